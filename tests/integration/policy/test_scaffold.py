"""First policies written for tables on real servers, and `pganon policy` on the command line."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from pganon.catalog import combinations
from pganon.catalog.introspect import read_relation
from pganon.cli.main import main
from pganon.errors import EXIT_OK, EXIT_USAGE, PolicyError, PreconditionError
from pganon.loading import known, load_policy
from pganon.policy.document import read_document
from pganon.policy.first_text import policy_text
from pganon.policy.loader import LoadedPolicy
from pganon.policy.scaffold import first_policy
from tests.support.harness.cli import pganon
from tests.support.harness.cluster import Database

PATIENTS = """
CREATE TABLE public.patients (
    patient_id int PRIMARY KEY, "E-Mail" text, firstName text, birth_date date, zip int,
    sex smallint, diagnosis text, payload jsonb, visits int, "on" text, ward int, remark text
);
INSERT INTO public.patients
SELECT i, 'secret' || i, 'Secretia', date '1980-01-01' + i, 10000 + i % 7, i % 2,
    CASE WHEN i % 3 = 0 THEN 'flu' ELSE 'secretitis' END, '{}', i % 40,
    CASE WHEN i % 2 = 0 THEN 'a' END, i % 5, 'secret'
FROM generate_series(1, 200) AS s(i);
"""


def scaffold(db: Database, source: str, task: str = "survey") -> tuple[str, LoadedPolicy]:
    conn = db.connect()
    relation = read_relation(conn, source)
    text = policy_text(first_policy(conn, relation, known(), task), known())
    return text, load_policy(text)


def roles(loaded: LoadedPolicy) -> dict[str, str]:
    return {name: column.role for name, column in loaded.policy.columns.items()}


def test_roles_and_comments(bare_db: Database) -> None:
    bare_db.source(PATIENTS)
    text, loaded = scaffold(bare_db, "patients")
    assert roles(loaded) == {
        "patient_id": "identifying",
        "E-Mail": "identifying",
        "firstname": "identifying",
        "birth_date": "quasi_identifying",
        "zip": "quasi_identifying",
        "sex": "quasi_identifying",
        "diagnosis": "sensitive",
        "visits": "quasi_identifying",
        "remark": "identifying",
    }
    assert "# payload: left out, type jsonb is not supported" in text
    assert '# "on": not released' in text
    assert "; 1 value, 50 % null" in text
    assert text.count("add type: categorical") == 1
    assert text.count("type: categorical, hierarchy: {postcode: us}") == 1
    assert [m.model for m in loaded.policy.privacy] == ["k_anonymity", "distinct_l_diversity"]
    assert "secret" not in text.lower()
    assert "flu" not in text
    assert "10000" not in text


ENCOUNTERS = """
CREATE TABLE public.encounters AS SELECT
    i AS encounter_id, 1000 + i % 130 AS patient_nbr, i % 70 AS num_lab_procedures,
    i % 6 AS number_inpatient, i % 3 AS "numVisits", (i % 90) / 4.0 AS dose,
    timestamp '2025-01-01' + i * interval '1 hour' AS seen, 'x' || i % 40 AS ward, i % 4 AS rank
FROM generate_series(1, 300) AS s(i);
ALTER TABLE public.encounters ADD PRIMARY KEY (encounter_id);
"""


def test_counts_and_many_valued_numbers_are_quasi_identifiers(bare_db: Database) -> None:
    bare_db.source(ENCOUNTERS)
    text, loaded = scaffold(bare_db, "encounters")
    assert roles(loaded) == {
        "encounter_id": "identifying",
        "patient_nbr": "identifying",
        "num_lab_procedures": "quasi_identifying",
        "number_inpatient": "quasi_identifying",
        "numVisits": "quasi_identifying",
        "dose": "quasi_identifying",
        "seen": "quasi_identifying",
    }
    assert "\nindividual: patient_nbr" in text


def test_a_persons_key_is_the_finest_column_that_says_so(bare_db: Database) -> None:
    bare_db.source(
        "CREATE TABLE public.t AS SELECT i % 100 AS person_no, i % 99 AS other, i % 7 AS age"
        " FROM generate_series(1, 500) AS s(i)"
    )
    text, loaded = scaffold(bare_db, "t")
    assert roles(loaded)["person_no"] == "identifying"
    assert roles(loaded)["other"] == "quasi_identifying"
    assert "\nindividual: person_no" in text
    # As fine as another: neither tells people apart.
    bare_db.source("CREATE TABLE public.u AS SELECT *, person_no AS twin_no FROM t")
    assert "# individual: person_id" in scaffold(bare_db, "u")[0]
    # Too many records each.
    bare_db.source(
        "CREATE TABLE public.v AS SELECT i % 40 AS person_no, i % 7 AS age"
        " FROM generate_series(1, 1000) AS s(i)"
    )
    assert "# individual: person_id" in scaffold(bare_db, "v")[0]


KEYED = """
    CREATE TABLE public.patient (house int, no int, PRIMARY KEY (house, no));
    INSERT INTO public.patient SELECT n / 50, n % 50 FROM generate_series(0, 199) AS n;
    CREATE TABLE public.admission (id int PRIMARY KEY, name text);
    INSERT INTO public.admission SELECT generate_series(0, 199);
    CREATE TABLE public.state (id int PRIMARY KEY);
    INSERT INTO public.state SELECT generate_series(0, 9);
    CREATE TABLE public.diagnosis (
        admission_id int REFERENCES public.admission, age int, disease_id int REFERENCES state,
        state_id int REFERENCES public.state
    );
    INSERT INTO public.diagnosis
    SELECT n / 3, n % 50, n % 4, n % 10 FROM generate_series(0, 599) AS n;
    CREATE TABLE public.stay AS
    SELECT n / 50 AS house, n % 50 AS no, n % 70 AS age, n % 6 AS disease
    FROM generate_series(0, 199) AS n,
        generate_series(1, 2);
    ALTER TABLE public.stay ADD FOREIGN KEY (house, no) REFERENCES public.patient;
    CREATE TABLE public.sensor AS
    SELECT n % 5 AS participant, n AS pulse FROM generate_series(0, 999) AS n;
    ALTER TABLE public.sensor ADD FOREIGN KEY (participant) REFERENCES public.state;
    CREATE TABLE public.panel (id int, year int, age int, PRIMARY KEY (id, year));
    INSERT INTO public.panel SELECT n / 4, n % 4, n % 50 FROM generate_series(0, 599) AS n;
    CREATE TABLE public.people (house int, no int, age int, PRIMARY KEY (house, no));
    INSERT INTO public.people SELECT n % 4, n / 4, n % 50 FROM generate_series(0, 599) AS n
"""


def test_foreign_keys_lead_to_people(bare_db: Database) -> None:
    """Whatever their names say; few values of a table of values are none."""
    bare_db.source(KEYED)
    text, loaded = scaffold(bare_db, "diagnosis")
    assert roles(loaded) == {
        "admission_id": "identifying",
        "age": "quasi_identifying",
        "disease_id": "sensitive",
    }
    assert "refers to public.admission" in text
    assert "# state_id: not released  # refers to public.state" in text
    assert loaded.policy.individual == "admission_id"
    # All columns of a key; and a name that says that they are people, however few they are.
    assert scaffold(bare_db, "stay")[1].policy.individual == ("house", "no")
    several = scaffold(bare_db, "stay", task="several-records")[1].policy
    assert several.individual_key == ("house", "no")
    assert scaffold(bare_db, "sensor")[1].policy.individual == "participant"


def test_the_rest_of_a_key_tells_records_of_a_person_apart(bare_db: Database) -> None:
    bare_db.source(KEYED)
    assert scaffold(bare_db, "panel")[1].policy.individual == "id"
    assert scaffold(bare_db, "people")[1].policy.individual is None


def test_a_column_named_none_is_no_denial(bare_db: Database) -> None:
    bare_db.source(
        KEYED + '; CREATE TABLE public.t AS SELECT admission_id AS "none", age FROM diagnosis;'
        ' ALTER TABLE public.t ADD FOREIGN KEY ("none") REFERENCES public.admission'
    )
    assert scaffold(bare_db, "t")[1].policy.individual_key == ("none",)


WITH_KEYS = """
    CREATE TABLE public.plain AS SELECT i % 100 AS {key}, i % 7 AS hue, i % 3 AS size
        FROM generate_series(1, 500) AS s(i);
    CREATE TABLE public.one AS SELECT *, {key} % 4 AS first FROM public.plain;
    CREATE TABLE public.two AS SELECT *, {key} % 5 AS second FROM public.one;
"""


@pytest.mark.parametrize(
    ("key", "least"), [("dupersid", "one"), ("who", "two"), ("case_nr", "plain")]
)
def test_what_a_key_determines_says_that_it_is_one(bare_db: Database, key: str, least: str) -> None:
    """As much as is needed beside the name."""
    bare_db.source(WITH_KEYS.replace("{key}", key))
    tables = ["plain", "one", "two"]
    keys = [f"\nindividual: {key}" in scaffold(bare_db, table)[0] for table in tables]
    assert keys == [table in tables[tables.index(least) :] for table in tables]


MEASURES = """
    CREATE TABLE public.heart AS SELECT 20 + i % 57 AS age, 100 + i * i % 151 AS chol, i % 5 AS num,
        i % 3 + 0.0 AS thal, 'study ' || i % 4 AS study_name, (i % 40) * 3 AS pwgtp
    FROM generate_series(1, 400) AS s(i);
    CREATE TABLE public.income AS SELECT i % 77 AS agep,
        CASE WHEN i % 9 = 0 THEN 'N' ELSE (i * i % 503)::text END AS povpip, i % 2 AS sex
    FROM generate_series(1, 900) AS s(i);
"""


def test_measures_and_coarse_names_are_no_identifiers(bare_db: Database) -> None:
    bare_db.source(MEASURES)
    text, loaded = scaffold(bare_db, "heart")
    assert roles(loaded) == {"age": "quasi_identifying", "chol": "quasi_identifying"}
    question = "not released  # few values: can others know it"
    assert [name for name in ("num", "thal", "study_name") if f"{name}: {question}" in text] == [
        "num",
        "thal",
        "study_name",
    ]
    assert "pwgtp: not released  # perhaps a survey weight" in text
    text, loaded = scaffold(bare_db, "income")
    assert roles(loaded) == {"agep": "quasi_identifying", "sex": "quasi_identifying"}
    assert "# povpip: not released  # no guess: can others know it" in text


def test_names_that_end_as_keys_do(bare_db: Database) -> None:
    bare_db.source(
        "CREATE TABLE public.t AS SELECT i % 90 AS duid, i % 91 AS paid, i % 12 AS pid,"
        " i % 7 AS age, i % 6 AS payer_code, 'x' || i % 80 AS code"
        " FROM generate_series(1, 500) AS s(i)"
    )
    text, loaded = scaffold(bare_db, "t")
    assert roles(loaded) == {
        "duid": "identifying",
        "paid": "quasi_identifying",
        "age": "quasi_identifying",
        "code": "identifying",
    }
    assert "# payer_code: not released  # few values: can others know it" in text


def test_columns_beyond_those_of_the_ranking(
    bare_db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    bare_db.source(DECIDED)
    monkeypatch.setattr(combinations, "MOST_COLUMNS", 3)
    text, _ = scaffold(bare_db, "care")
    assert re.search("^#   clinic .* not compared$", text, re.MULTILINE)
    assert text.count("not compared") == 1


SURVEY = """
    CREATE TABLE public.survey AS SELECT 'P' || i % 20 AS puma, i % 12 AS edu, i % 9 AS rac1p,
        i % 5 AS irace, i % 2 AS isex, i % 96 AS agep, (i % 8)::numeric AS cow,
        i % 1000 AS pinc, i % 1 AS flat
    FROM generate_series(1, 3000) AS s(i)
"""


def test_codes_with_few_values_have_a_role_or_a_question(bare_db: Database) -> None:
    bare_db.source(SURVEY)
    text, loaded = scaffold(bare_db, "survey")
    quasi = dict.fromkeys(("edu", "rac1p", "irace", "isex", "agep"), "quasi_identifying")
    assert roles(loaded) == {**quasi, "pinc": "sensitive"}
    assert 'edu: {role: quasi_identifying}  # perhaps "education", by its name; 12 values' in text
    asked = re.findall(r"# (\w+): not released  # few values: can others know it", text)
    assert asked == ["puma", "cow"]
    assert "# flat: not released  # no guess; 1 value" in text


DECIDED = """
    CREATE TABLE public.care AS SELECT i AS id, 20 + abs(hashint4(i)) % 60 AS age,
        'd' || i % 6 AS disease, 'w' || i % 6 / 2 AS clinic, 'c' || i % 6 * 3 AS degree,
        'x' || abs(hashint4(-i)) % 7 AS town
    FROM generate_series(1, 600) AS s(i);
    ALTER TABLE public.care ADD PRIMARY KEY (id);
"""


def test_columns_that_decide_a_sensitive_one_are_said(bare_db: Database) -> None:
    bare_db.source(DECIDED)
    text, _ = scaffold(bare_db, "care")
    said = re.findall(r"^#   (.*: leave .*)$", text, re.MULTILINE)
    assert said == [
        "clinic follows from disease (1.00): leave clinic out, or make it sensitive, too",
        "degree decides disease (1.00): leave degree out, or make it sensitive, too",
    ]


@pytest.mark.slow
def test_without_the_deciding_column_less_is_lost(
    db: Database, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    db.source(DECIDED)
    text, loaded = scaffold(db, "care")
    assert roles(loaded)["degree"] == "quasi_identifying"
    losses: list[float] = []
    for policy in (text, re.sub("^  degree:.*\n", "", text, flags=re.MULTILINE)):
        file = tmp_path / "care.yaml"
        file.write_text(policy)
        assert main(["run", str(file), "--dry-run", "--json", "--dsn", db.dsn()]) == EXIT_OK
        losses.append(json.loads(capsys.readouterr().out)["utility"]["gcp"])
    assert losses[1] < losses[0] / 2


def test_columns_are_ranked_by_what_they_tell_apart(bare_db: Database) -> None:
    bare_db.source(DECIDED)
    text, _ = scaffold(bare_db, "care")
    table = text[text.index("with those above\n") :].splitlines()[1:]
    rows = [line.removeprefix("#").split() for line in table[: table.index("")]]
    assert [row[0] for row in rows] == ["age", "town", "degree", "clinic"]
    assert rows[0][1] == rows[0][3] == "0.1000"  # 60 ages of 600 people
    assert rows[-1][-2:] == ["adds", "little"]


def test_of_many_columns_the_ten_that_matter_are_said_first(bare_db: Database) -> None:
    """Columns of two values, and one that tells all apart with three of them."""
    bits = ", ".join(f"(hashtextextended(i::text, {c}) & 1)::int AS code{c}" for c in range(30))
    bare_db.source(
        f"CREATE TABLE public.wide AS SELECT {bits}, i % 500 AS age, 'd' || i % 5 AS diagnosis"
        " FROM generate_series(1, 2000) AS i"
    )
    text, _ = scaffold(bare_db, "wide")
    about = text[: text.index("release:")].splitlines()
    (line,) = [n for n, one in enumerate(about) if "tell most rows apart, together" in one]
    assert "31 columns may be known to others" in about[line - 1]
    named = about[line + 1].removeprefix("#").split(",")
    assert len(named) == 10
    assert named[0].strip() == "age"
    ranked = text[text.index("# What tells rows apart") :]
    assert [one.strip() in ranked for one in named] == [True] * 10


def test_no_line_publishes_a_column_once_it_is_uncommented(bare_db: Database) -> None:
    bare_db.source(PATIENTS)
    text, _ = scaffold(bare_db, "patients")
    assert "insensitive}" not in text
    assert not re.search(r"^ *#.*role: (insensitive|sensitive)", text, re.MULTILINE)
    uncommented = text.replace('  # "on":', '  "on":')
    with pytest.raises(PolicyError):
        load_policy(uncommented)


HOSTILE = """
CREATE SCHEMA "a.b: #";
CREATE TYPE "a.b: #"."x
y" AS (a int);
CREATE TABLE "a.b: #"."t""'\\ %s {}" (
    "age" int, "null" text, "yes" text, "1e3" text, "- a: b" text, "it's #1" text, "new
line" text, "tab	x" "a.b: #"."x
y", "back\\slash" text, "😀" text, "{{%s}}" int, "select" text,
    "{LONG}" text
);
""".replace("{LONG}", "é" * 31)


def test_hostile_names(bare_db: Database) -> None:
    bare_db.source(HOSTILE)
    source = '"a.b: #"."t""\'\\ %s {}"'
    conn = bare_db.connect()
    relation = read_relation(conn, source)
    text, loaded = scaffold(bare_db, source)
    assert read_relation(conn, loaded.policy.source).oid == relation.oid
    assert roles(loaded) == {"age": "quasi_identifying"}
    everything = re.sub(r"^  # (?=\S)", "  ", text, flags=re.MULTILINE)
    everything = everything.replace("left out, ", "{role: insensitive} # ")
    assert list(read_document(everything).data["columns"]) == list(relation.column_names)


def test_empty_and_keyless_tables(bare_db: Database) -> None:
    bare_db.source("CREATE TABLE public.bare (a text, b int, c numeric)")
    _, loaded = scaffold(bare_db, "bare")
    assert roles(loaded) == dict.fromkeys("abc", "quasi_identifying")
    bare_db.source("CREATE TABLE public.keyed (a int PRIMARY KEY)")
    assert roles(scaffold(bare_db, "keyed")[1]) == {"a": "quasi_identifying"}
    bare_db.source("CREATE TABLE public.none (a jsonb)")
    with pytest.raises(PreconditionError, match="no column that can be released"):
        scaffold(bare_db, "none")
    bare_db.source("CREATE TABLE public.nothing ()")
    with pytest.raises(PreconditionError, match="no column"):
        scaffold(bare_db, "nothing")


def test_every_type_can_be_counted(bare_db: Database) -> None:
    bare_db.source("""
        CREATE TYPE public.mood AS ENUM ('x', 'y');
        CREATE DOMAIN public.grade AS numeric(3,1);
        CREATE TABLE public.t (a smallint, b bigint, c numeric, d real, e float8, f date,
            g timestamp, h timestamptz, i boolean, j text, k char(5), l public.mood, m uuid,
            n public.grade, o name);
        INSERT INTO public.t (a, e, l) VALUES (1, 'NaN', 'x'), (NULL, 'Infinity', NULL);
        CREATE VIEW public.v AS SELECT * FROM public.t;
    """)
    for source in ("t", "v"):
        text, _ = scaffold(bare_db, source)
        assert "1 value, 50 % null" in text
        assert "NaN" not in text


@pytest.mark.primary_server_only
def test_unreadable_columns_and_row_security(bare_db: Database) -> None:
    bare_db.source("CREATE TABLE public.t (age int, zip text, hidden text)", grant=False)
    bare_db.admin.execute("GRANT SELECT (age, zip) ON public.t TO steward")
    text, loaded = scaffold(bare_db, "t")
    assert "# hidden: left out, this role may not read it" in text
    assert roles(loaded) == {"age": "quasi_identifying", "zip": "quasi_identifying"}


SECURED = """
CREATE TABLE public.t AS SELECT i % 40 AS person_no, i % 7 AS age, i % 3 AS hue
    FROM generate_series(1, 200) AS s(i);
CREATE POLICY adults ON public.t USING (age > 1);
ALTER TABLE public.t ENABLE ROW LEVEL SECURITY;
CREATE VIEW public.v WITH (security_invoker) AS SELECT * FROM public.t;
CREATE VIEW public.owners AS SELECT * FROM public.t;
"""


def test_row_level_security(bare_db: Database) -> None:
    """Nothing is counted where it would hide rows, and the policy says so."""
    if bare_db.admin.info.server_version < 150000:
        pytest.skip("views read with the rights of their owner")
    bare_db.source(SECURED)
    for source, secured in (("t", True), ("v", True), ("owners", False)):
        ran = pganon("policy", "init", source, "--trust", "source_owner", "--dsn", bare_db.dsn())
        assert (ran.code, ran.err) == (0, "")
        assert ("Row-level security applies" in ran.out) is secured
        assert ("Of about" in ran.out) is not secured
        assert "age: {role: quasi_identifying" in ran.out


@pytest.mark.primary_server_only
def test_commands(bare_db: Database, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bare_db.source(PATIENTS)
    dsn = ["--dsn", bare_db.dsn()]
    file = tmp_path / "patients.yaml"
    assert main(["policy", "init", "patients", "-o", str(file), *dsn]) == EXIT_OK
    assert main(["policy", "init", "patients", "-o", str(file), *dsn]) == EXIT_USAGE
    assert "exists" in capsys.readouterr().err
    assert main(["policy", "init", "patients", "-o", str(file), "--force", *dsn]) == EXIT_OK
    capsys.readouterr()
    assert main(["policy", "init", "patients", *dsn]) == EXIT_OK
    assert capsys.readouterr().out == file.read_text("utf-8")
    assert main(["policy", "check", str(file)]) == EXIT_OK
    assert capsys.readouterr().out.startswith(f"{file}: valid")
    assert main(["policy", "check", str(file), "--source", "--json", *dsn]) == EXIT_OK
    checked = json.loads(capsys.readouterr().out)
    assert (checked["valid"], checked["release"], checked["against_source"]) == (
        True,
        "patients",
        True,
    )
    assert main(["policy", "schema"]) == EXIT_OK
    assert json.loads(capsys.readouterr().out)["title"] == "pganon policy"
    file.write_text(file.read_text("utf-8").replace("zip:", "zipp:").replace("k: 12", "k: 1"))
    assert main(["policy", "check", str(file), "--json"]) == EXIT_USAGE
    error = json.loads(capsys.readouterr().out)["error"]
    assert [p["field"] for p in error["problems"]] == ["privacy[0].k"]
    file.write_text(file.read_text("utf-8").replace("k: 1}", "k: 5}"))
    assert main(["policy", "check", str(file), "--source", *dsn]) == EXIT_USAGE
    assert "zipp" in capsys.readouterr().err
