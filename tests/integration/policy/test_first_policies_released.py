"""First policies of tables with names in three languages, and releases that they make."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from pganon.cli import common
from pganon.policy.vocabulary import whole_words, words
from tests.support.harness.cli import Ran, pganon
from tests.support.harness.cluster import Database

LANGUAGES: dict[str, dict[str, str]] = {
    "english": {
        "patient_id": "n",
        "agecategory": "'g' || n % 9",
        "Zip Code": "(ARRAY['10001', '60601', '94110', '03601'])[1 + n % 4]",
        "sex": "n % 2",
        "heartdisease": "(ARRAY['Yes', 'No'])[1 + n % 2]",
        "SkinCancer": "(ARRAY['Yes', 'No', 'unknown'])[1 + n % 3]",
    },
    "german": {
        "Patientennummer": "n",
        "Alter": "20 + abs(hashint4(n)) % 60",
        "PLZ": "(ARRAY['10115', '01067', '80331', '20095'])[1 + abs(hashint4(-n)) % 4]",
        "Geschlecht": "1 + abs(hashint4(n * 7)) % 2",
        "Hauptdiagnose": "(ARRAY['E11.9', 'I10', 'J45.0', 'C50.9'])[1 + n % 4]",
        "Einkommen": "(1000 + n % 6 * 100)",
    },
    "french": {
        "numero": "n",
        "âge": "20 + n % 60",
        "code_postal": "(ARRAY['75011', '97110', '13001', '69001'])[1 + n % 4]",
        "sexe": "(ARRAY['F', 'H'])[1 + n % 2]",
        "maladie": "(ARRAY['diabète', 'asthme', 'grippe'])[1 + n % 3]",
        "pays": "(ARRAY['FR', 'BE', 'dz', 'MA'])[1 + n % 4]",
    },
}


def table(db: Database, language: str, *, key: bool) -> None:
    columns = LANGUAGES[language]
    values = ", ".join(f'{value} AS "{name}"' for name, value in columns.items())
    first = next(iter(columns))
    db.source(
        f"DROP TABLE IF EXISTS public.t;"
        f" CREATE TABLE public.t AS SELECT {values} FROM generate_series(1, 600) AS n;"
        + (f'ALTER TABLE public.t ADD PRIMARY KEY ("{first}")' if key else "")
    )


def written(db: Database, folder: Path, *options: str) -> tuple[dict[str, Any], str, Path]:
    file = folder / "t.yaml"
    dsn = ("--dsn", db.dsn("steward"))
    made = pganon("policy", "init", "public.t", "-o", str(file), "--force", *options, *dsn)
    assert made.code == 0, made.err
    for how in ((), ("--source", *dsn)):
        checked = pganon("policy", "check", str(file), *how)
        assert checked.code == 0, (how, checked.err, file.read_text())
    return yaml.safe_load(file.read_text()), file.read_text(), file


@pytest.mark.primary_server_only
@pytest.mark.parametrize("key", [True, False], ids=["keyed", "keyless"])
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_proposal_passes_the_check(
    db: Database, tmp_path: Path, language: str, key: bool
) -> None:
    table(db, language, key=key)
    for options in ((), ("--once",), ("--monthly",), ("--monthly", "--task", "exact")):
        policy, text, _ = written(db, tmp_path, *options)
        assert ("refresh: increments " in text) == ("--monthly" in options), text
        growing = policy.get("refresh") == "increments"
        assert growing == ("--monthly" in options and key)
        assert (policy.get("leavers") == "keep") == growing
        assert ("pganon forget t --people" in text) == growing
        assert ("pganon policy init --monthly" in text) == (options == ())


def test_names_in_three_languages(db: Database, tmp_path: Path) -> None:
    found: dict[str, dict[str, Any]] = {}
    for language in LANGUAGES:
        table(db, language, key=True)
        policy, text, _ = written(db, tmp_path)
        assert "{model: k_anonymity, k: 12}  # 1/12 is below 9 %" in text
        of = [m["column"] for m in policy["privacy"] if m["model"] == "distinct_l_diversity"]
        assert of == [n for n, c in policy["columns"].items() if c["role"] == "sensitive"]
        found[language] = policy["columns"]
        assert text.count("all values of a sample are") == str(policy).count("'hierarchy'")
    quasi, number = {"role": "quasi_identifying"}, {"type": "categorical"}
    assert found == {
        "english": {
            "patient_id": {"role": "identifying"},
            "agecategory": quasi,
            "Zip Code": {**quasi, "hierarchy": {"postcode": "us"}},
            "sex": {**quasi, **number},
            "heartdisease": {"role": "sensitive"},
            "SkinCancer": {"role": "sensitive"},
        },
        "german": {
            "Patientennummer": {"role": "identifying"},
            "Alter": quasi,
            "PLZ": {**quasi, "hierarchy": {"postcode": "de"}},
            "Geschlecht": {**quasi, **number},
            "Hauptdiagnose": {"role": "sensitive"},
            "Einkommen": {"role": "sensitive"},
        },
        "french": {
            "numero": {"role": "identifying"},
            "âge": quasi,
            "code_postal": {**quasi, "hierarchy": {"postcode": "fr"}},
            "sexe": quasi,
            "maladie": {"role": "sensitive"},
            "pays": {**quasi, "hierarchy": {"country": "m49"}},
        },
    }


@pytest.mark.slow
def test_a_hospital_releases_again_after_people_left(db: Database, tmp_path: Path) -> None:
    """It is not refused, and who is to be erased can be: as the comments of the policy say."""
    table(db, "german", key=True)
    _, text, file = written(db, tmp_path, "--monthly", "--task", "monthly")
    dsn = ("--dsn", db.dsn("steward"))
    assert pganon("run", str(file), *dsn).code == 0
    db.source(
        'CREATE TABLE public.gone AS SELECT "Patientennummer" FROM public.t'
        ' WHERE "Patientennummer" % 35 = 0;'
        ' DELETE FROM public.t WHERE "Patientennummer" % 35 = 0;'
        ' INSERT INTO public.t SELECT "Patientennummer" + 1000, "Alter", "PLZ", "Geschlecht",'
        ' "Hauptdiagnose", "Einkommen" FROM public.t LIMIT 30'
    )
    again = pganon("run", str(file), *dsn)
    assert again.code == 0, again.err
    assert "left       17 people" in again.out
    count = "SELECT count(*) FROM published.t"
    assert db.admin.execute(count).fetchone() == (630,)
    forget = next(line for line in text.splitlines() if "pganon forget" in line)
    words = forget.removeprefix("#").split("#")[0].replace("TABLE", "public.gone").split()
    forgotten = pganon(*words[1:], *dsn)
    assert (forgotten.code, "17" in forgotten.out) == (0, True), forgotten.err
    file.write_text(text.replace("leavers: keep ", "leavers: withdraw "))
    erased = pganon("run", str(file), *dsn)
    assert erased.code == 0, erased.err
    assert "groups with" in erased.out
    assert (db.admin.execute(count).fetchone() or (0,))[0] < 613


def test_a_form_that_not_all_values_have_is_not_proposed(db: Database, tmp_path: Path) -> None:
    table(db, "german", key=True)
    db.source('UPDATE public.t SET "PLZ" = \'?\' WHERE "Patientennummer" = 7', grant=False)
    policy, text, _ = written(db, tmp_path)
    assert "hierarchy" not in policy["columns"]["PLZ"]
    # Without a name that says so, from twenty values on, and if there is only one form.
    db.source(
        'ALTER TABLE public.t RENAME "PLZ" TO region;'
        "UPDATE public.t SET region = CASE WHEN \"Patientennummer\" % 3 = 0 THEN 'SW1A 1AA'"
        " ELSE 'M' || \"Patientennummer\" % 25 || ' 1AE' END",
        grant=False,
    )
    policy, text, _ = written(db, tmp_path)
    assert policy["columns"]["region"]["hierarchy"] == {"postcode": "uk"}
    assert "all values of a sample are postcode: uk; add other: true" in text


@pytest.mark.slow
def test_the_terminal_is_asked(
    db: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table(db, "english", key=True)
    questions: list[str] = []
    for answer in (True, False, None):

        def said(question: str, answer: bool | None = answer) -> bool | None:
            questions.append(question)
            return answer

        monkeypatch.setattr(common, "asked", said)
        policy, text, _ = written(db, tmp_path)
        assert (policy.get("refresh") == "increments") == bool(answer)
        assert ("--monthly" in text) == (answer is None)
    for options in (("--once",), ("--monthly",), ("--task", "background")):
        written(db, tmp_path, *options)
    told = pganon("policy", "init", "public.t", "--json", "--dsn", db.dsn("steward")).json
    assert "pganon policy init --monthly" in told["policy"]
    assert len(questions) == 3
    for options, said_ in (
        (("--once", "--monthly"), "exclude each other"),
        (("--monthly", "--task", "background"), "cannot be made again"),
    ):
        ran: Ran = pganon("policy", "init", "public.t", *options, "--dsn", db.dsn("steward"))
        assert ran.code == 2
        assert said_ in ran.err


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("agecategory", {"age", "category"}),
        ("heartdisease", {"heart", "disease"}),
        ("dateofbirth", {"date", "of", "birth"}),
        ("patientnummer", {"patient", "nummer"}),
        ("Straße", {"strasse"}),
        ("Prénom", {"prenom"}),
        ("marriage", {"marriage"}),
        ("percentage", {"percentage"}),
        ("coverage", {"coverage"}),
        ("covid", {"covid"}),
    ],
)
def test_words_written_as_one(name: str, parts: set[str]) -> None:
    assert whole_words(name) - {"".join(words(name))} == parts - {"".join(words(name))}
