"""`pganon check` as a gate, `pganon status` with what has changed, and `undeclared: refuse`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.harness import faults, queue
from tests.support.harness.cli import Ran, pganon
from tests.support.harness.cluster import Database
from tests.support.sources.migrations import put, two, write

# The key of the source is declared, or every check would name it.
COLUMNS: dict[str, Any] = {"id": {"role": "identifying"}, **faults.POLICY["columns"]}


@pytest.fixture
def folder(db: Database, tmp_path: Path) -> Path:
    db.source(faults.SOURCE)
    write(tmp_path / "policies", "patients", columns=COLUMNS)
    return tmp_path / "policies"


def check(db: Database, *targets: object, role: str = "steward") -> Ran:
    return pganon("check", *map(str, targets), "--dsn", db.dsn(role), "--json")


def wrong(done: Ran) -> list[tuple[str, str]]:
    assert done.code in (0, 1), (done.out, done.err)
    found = done.json
    assert found["holds"] == (found["wrong"] == [])
    assert done.code == (0 if found["holds"] else 1)
    return [(w["code"], w["message"]) for w in found["wrong"]]


def test_nothing_wrong(db: Database, folder: Path) -> None:
    assert wrong(check(db, folder)) == []
    assert pganon("check", str(folder), "--dsn", db.dsn()).out == (
        "checked 1 policy: nothing wrong\n"
    )


def test_a_column_that_nobody_mentions(db: Database, folder: Path) -> None:
    db.source(
        'ALTER TABLE public.patient ADD COLUMN insurance text, ADD COLUMN "Zip: 5" text,'
        " ADD COLUMN salary integer"
    )
    done = pganon("check", str(folder), "--dsn", db.dsn())
    assert done.code == 1
    assert done.out.splitlines() == [
        f"{folder}/patients.json: public.patient has columns that no policy mentions: insurance,"
        ' "Zip: 5", salary',
        "add to `columns`, after a look at every line:",
        "  insurance: {role: identifying}  # no guess: as it is, it is withheld",
        "  'Zip: 5': {role: quasi_identifying}  # by its name",
        "  salary: {role: sensitive}  # by its name",
    ]
    # Another policy about the same source mentions one of them, and a third has another source.
    write(folder, "others", release="others", columns={"salary": {"role": "sensitive"}, **COLUMNS})
    db.source("CREATE TABLE public.other AS TABLE public.patient")
    write(folder, "third", release="third", source="public.other", columns=COLUMNS)
    found = check(db, folder).json["wrong"]
    assert [(w["release"], w["message"].partition("mentions: ")[2]) for w in found] == [
        ("others", 'insurance, "Zip: 5"'),
        ("patients", 'insurance, "Zip: 5"'),
        ("third", 'insurance, "Zip: 5", salary'),
    ]


def _gone(db: Database, folder: Path) -> None:
    db.source("ALTER TABLE public.patient DROP COLUMN days")


def _gone_identifying(db: Database, folder: Path) -> None:
    db.source("ALTER TABLE public.patient DROP COLUMN id")


def _unsupported(db: Database, folder: Path) -> None:
    db.source("ALTER TABLE public.patient ALTER COLUMN age TYPE int[] USING ARRAY[age]")


def _no_table(db: Database, folder: Path) -> None:
    db.source("DROP TABLE public.patient")


def _no_reader(db: Database, folder: Path) -> None:
    write(folder, "patients", columns=COLUMNS, publish={"readers": ["analyst", "nobody"]})


def _no_file(db: Database, folder: Path) -> None:
    column = {"role": "quasi_identifying", "hierarchy": {"csv": "none.csv"}}
    write(folder, "patients", columns={**COLUMNS, "city": column})


def _broken(db: Database, folder: Path) -> None:
    put(folder, "broken", {"release": "broken"})


@pytest.mark.parametrize(
    ("spoil", "code", "words"),
    [
        (_gone, "unresolved", "columns.days: public.patient has no column days"),
        (_gone_identifying, "unresolved", "columns.id: public.patient has no column id"),
        (_unsupported, "unresolved", "columns.age"),
        (_no_table, "unresolved", "there is no table or view public.patient"),
        (
            _no_reader,
            "missing_role",
            "trusted roles are not roles of the server: nobody",
        ),
        (_broken, "unresolved", "source"),
        (_no_file, "unresolved", 'there is no file "none.csv"'),
    ],
)
def test_what_is_wrong(
    db: Database, folder: Path, spoil: Callable[[Database, Path], None], code: str, words: str
) -> None:
    spoil(db, folder)
    found = wrong(check(db, folder))
    assert {c for c, _ in found} == {code}
    assert words in found[0][1]


def test_files_need_neither_privileges_nor_pganon(bare_db: Database, tmp_path: Path) -> None:
    """As in a pipeline, whose database has the schema of the application and nothing else."""
    bare_db.source(faults.SOURCE, grant=False)
    bare_db.admin.execute("REVOKE ALL ON public.patient FROM PUBLIC")
    write(tmp_path, "patients", columns=COLUMNS)
    for role in ("analyst", "steward"):
        assert wrong(check(bare_db, tmp_path, role=role)) == []
    bare_db.source("ALTER TABLE public.patient ADD COLUMN insurance text", grant=False)
    assert [c for c, _ in wrong(check(bare_db, tmp_path, role="analyst"))] == ["undeclared"]
    done = pganon("check", str(tmp_path), "--values", "--dsn", bare_db.dsn(), "--json")
    assert done.json["error"]["code"] == "missing"


RULE = "CREATE POLICY part ON {0} USING (id < 20); ALTER TABLE {0} ENABLE ROW LEVEL SECURITY"


@pytest.mark.parametrize("behind", ["", "a view"])
def test_rows_that_the_steward_would_not_see(db: Database, folder: Path, behind: str) -> None:
    """Found before a run; FORCE ROW LEVEL SECURITY holds for the owner of the table, too."""
    assert pganon("policy", "apply", str(folder / "patients.json"), "--dsn", db.dsn()).code == 0
    if behind:
        db.source(
            "ALTER TABLE public.patient RENAME TO base;"
            " CREATE VIEW public.patient AS TABLE public.base;"
            " GRANT SELECT ON public.patient TO steward",
            grant=False,
        )
        write(folder, "patients", columns=COLUMNS, trust=["source_owner"])
    table = "public.base" if behind else "public.patient"
    db.source(f"{RULE.format(table)}; ALTER TABLE {table} FORCE ROW LEVEL SECURITY", grant=False)
    if not behind:
        db.admin.execute("ALTER TABLE public.patient OWNER TO steward")
    file = str(folder / "patients.json")
    at = ("--dsn", db.dsn(), "--json")
    for command in (("plan", file), ("policy", "check", "--source", file), ("run", file)):
        error = pganon(*command, *at).json["error"]
        assert error["code"] == "row_security", command
        assert "hide rows of public.patient" in error["message"]
        assert "NO FORCE ROW LEVEL SECURITY" in error["hint"]
        assert "BYPASSRLS" in error["hint"]
    hidden = "policies of row-level security would hide rows of public.patient"
    for target in (folder, "patients"):
        assert wrong(check(db, target)) == [("unresolved", hidden)]
    db.admin.execute(f"ALTER TABLE {table} NO FORCE ROW LEVEL SECURITY")
    assert wrong(check(db, folder)) == []


def test_rows_of_a_hierarchy_that_are_no_tree(db: Database, folder: Path) -> None:
    """As a run says it."""
    (folder / "tree.txt").write_text("18;young;*\n19,young,*\n", "utf-8")
    columns = {**COLUMNS, "age": {"role": "quasi_identifying", "hierarchy": {"csv": "tree.txt"}}}
    file = str(write(folder, "patients", columns=columns))
    said = 'hierarchy of column age: "tree.txt" has rows under another root than the others: line 2'
    at = ("--dsn", db.dsn(), "--json")
    for command in (("plan", file), ("policy", "check", file), ("run", file)):
        assert said in pganon(*command, *at).json["error"]["message"], command
    ((code, message),) = wrong(check(db, folder))
    assert (code, said in message) == ("unresolved", True)


def test_names_are_for_the_steward(db: Database, folder: Path) -> None:
    queue.apply(db, columns=COLUMNS)
    assert wrong(check(db, "patients")) == []
    assert check(db, "patients", role="analyst").json["error"]["code"] == "not_owner"
    assert check(db, "nothing").json["error"]["code"] == "unknown_policy"
    assert check(db, "patients", folder).code == 2
    db.admin.execute("REVOKE SELECT ON public.patient FROM steward")
    assert "lacks SELECT" in wrong(check(db, "patients"))[0][1]
    assert wrong(check(db, folder)) == []
    db.owner().execute('SELECT pganon.apply_policy(\'{"release": "bad"}\')')
    assert {c for c, _ in wrong(check(db, "bad"))} == {"unresolved"}


def test_a_folder_of_migrations_is_its_newest_policies(db: Database, tmp_path: Path) -> None:
    db.source(faults.SOURCE)
    write(tmp_path, "0001_patients", source="public.gone")
    write(tmp_path, "0002_patients", columns=COLUMNS)
    write(tmp_path, "0003_others", release="others", source="public.gone")
    put(tmp_path, "0004_withdraw_others", {"withdraw": "others"})
    done = check(db, tmp_path)
    assert wrong(done) == []
    assert done.json["policies"] == 1
    (tmp_path / "0003_others.json").unlink()
    assert check(db, tmp_path).json["error"]["code"] == "gap"


@pytest.mark.slow
def test_types_beside_those_of_the_version_that_is_shown(db: Database, folder: Path) -> None:
    assert pganon("run", str(folder / "patients.json"), "--dsn", db.dsn()).code == 0
    db.source("ALTER TABLE public.patient ALTER COLUMN days TYPE bigint")
    message = "column days of public.patient was integer when version 1 was made, and is bigint"
    for target in (folder, "patients"):
        assert wrong(check(db, target)) == [("retyped", message)]
    assert wrong(check(db, folder, role="analyst")) == [], "who cannot know does not say"
    assert pganon("run", str(folder / "patients.json"), "--dsn", db.dsn()).code == 0
    assert wrong(check(db, "patients")) == []
    # A column that this policy does not read is nothing to it.
    db.source("ALTER TABLE public.patient ALTER COLUMN id TYPE bigint")
    write(folder, "patients")
    assert [c for c, _ in wrong(check(db, folder))] == ["undeclared"]


def test_values_that_a_hierarchy_lacks(db: Database, folder: Path) -> None:
    db.source("INSERT INTO public.patient VALUES (99, 30, 'f', 'Paris', 'flu', 1)")
    assert wrong(check(db, folder)) == []
    done = pganon("check", str(folder), "--values", "--dsn", db.dsn(), "--json")
    assert wrong(done) == [
        ("values", "hierarchy of column city: 1 value in 1 record missing from it")
    ]
    assert "Paris" not in done.out + done.err
    conn = db.owner()
    assert faults.events(conn) == ["started", "dry_run"], "the source was read"
    assert faults.run_tables(conn) == []


# -- undeclared -----------------------------------------------------------------------------------


@pytest.mark.slow
def test_undeclared_columns_can_be_refused(db: Database, folder: Path) -> None:
    file = write(folder, "patients", undeclared="refuse")
    at = ("--dsn", db.dsn(), "--json")
    done = pganon("run", str(file), *at)
    assert done.code == 2
    assert done.json["error"]["problems"][0]["message"] == (
        "public.patient has the column id, which is not declared"
    )
    write(folder, "patients", undeclared="refuse", columns=COLUMNS)
    assert pganon("run", str(file), *at).json["outcome"] == "released"
    # The key is about runs alone: the version stays.
    write(folder, "patients", columns=COLUMNS)
    assert pganon("run", str(file), *at).json["outcome"] == "unchanged"
    db.source("ALTER TABLE public.patient ADD COLUMN insurance text")
    assert pganon("run", str(file), *at).json["outcome"] == "unchanged"
    write(folder, "patients", undeclared="refuse", columns=COLUMNS)
    assert pganon("run", str(file), *at).code == 2
    assert [c for c, _ in wrong(check(db, folder))] == ["undeclared"]
    write(folder, "patients", undeclared="maybe")
    assert pganon("run", str(file), *at).json["error"]["code"] == "policy"


# -- status ---------------------------------------------------------------------------------------


def status(db: Database, *options: str) -> dict[str, Any]:
    found = pganon("status", *options, "--dsn", db.dsn(), "--json").json["drift"]
    return found[0] if found else {}


@pytest.mark.slow
def test_status_of_what_has_changed(db: Database, folder: Path) -> None:
    assert status(db) == {}
    assert pganon("run", str(folder / "patients.json"), "--dsn", db.dsn()).code == 0
    assert status(db, "patients")["source"] == "unchanged"
    faults.wait_until(lambda: status(db)["source"] == "unchanged")
    db.source("UPDATE public.patient SET days = days + 1 WHERE id = 1")
    faults.wait_until(lambda: status(db)["source"] == "perhaps_changed")
    assert status(db, "patients", "--fast")["source"] == "perhaps_changed"
    assert status(db, "patients")["source"] == "changed"
    db.source("UPDATE public.patient SET days = days - 1 WHERE id = 1")
    assert status(db, "patients")["source"] == "unchanged"
    assert status(db)["source"] == "perhaps_changed"
    text = pganon("status", "--dsn", db.dsn())
    assert "warning: patients: its source has perhaps changed" in text.err


@pytest.mark.slow
def test_status_of_columns(db: Database, folder: Path) -> None:
    assert pganon("run", str(folder / "patients.json"), "--dsn", db.dsn()).code == 0
    db.source(
        "ALTER TABLE public.patient ADD COLUMN insurance text, ALTER COLUMN days TYPE bigint,"
        " ALTER COLUMN sex DROP NOT NULL"
    )
    for options in ((), ("patients",)):
        found = status(db, *options)
        assert found["added"] == ["insurance"]
        assert found["retyped"] == [{"name": "days", "before": "integer", "now": "bigint"}]
        assert found["dropped"] == []
    assert status(db, "patients")["source"] == "changed"
    db.source("ALTER TABLE public.patient DROP COLUMN days")
    found = status(db, "patients")
    assert found["dropped"] == ["days"]
    assert "public.patient has no column days" in found["problem"]
    assert found["source"] == "unknown"
    text = pganon("status", "patients", "--dsn", db.dsn()).err
    assert "patients: new column insurance, which its policy does not mention" in text
    assert "patients: column days is gone" in text
    db.source("DROP TABLE public.patient")
    found = status(db)
    assert (found["source"], found["problem"]) == (
        "unknown",
        "there is no table or view public.patient",
    )


@pytest.mark.slow
def test_status_of_values(db: Database, folder: Path) -> None:
    assert pganon("run", str(folder / "patients.json"), "--dsn", db.dsn()).code == 0
    db.source("INSERT INTO public.patient VALUES (99, 30, 'f', 'Paris', 'flu', 1)")
    found = status(db, "patients")
    assert found["problem"] == "hierarchy of column city: 1 value in 1 record missing from it"
    assert found["source"] == "unknown"


@pytest.mark.slow
def test_another_policy_reads_other_rows(db: Database, folder: Path) -> None:
    """Whether the source changed is asked of what the version was made from."""
    assert pganon("run", str(folder / "patients.json"), "--dsn", db.dsn()).code == 0
    write(folder, "patients", columns=COLUMNS, where="days < 4")
    assert pganon("policy", "apply", str(folder), "--dsn", db.dsn()).code == 0
    assert status(db, "patients")["source"] == "unknown"
    faults.wait_until(lambda: status(db)["source"] == "unchanged")
    db.source("TRUNCATE public.patient")  # which counts no rows
    assert status(db)["source"] == "perhaps_changed"


@pytest.mark.slow
def test_a_withdrawn_release_has_not_changed(db: Database, tmp_path: Path) -> None:
    db.source(faults.SOURCE)
    assert pganon("migrate", str(two(tmp_path / "m")), "--dsn", db.dsn()).code == 0
    db.owner().execute("SELECT pganon.withdraw_release('patients')")
    assert status(db, "patients") == {}


@pytest.mark.slow
def test_a_view_over_a_schema_that_the_steward_may_not_use(db: Database, tmp_path: Path) -> None:
    """Statistics are of the tables below, and asking for them needs no privilege."""
    db.source(faults.SOURCE)
    db.source(
        "CREATE SCHEMA hidden; ALTER TABLE public.patient SET SCHEMA hidden;"
        " CREATE VIEW public.patient AS SELECT * FROM hidden.patient"
    )
    db.admin.execute(
        "REVOKE ALL ON SCHEMA hidden FROM steward; REVOKE ALL ON hidden.patient FROM steward"
    )
    file = write(tmp_path, "patients", trust=["source_owner"], republication="allow")
    done = pganon("run", str(file), "--dsn", db.dsn(), "--json")
    assert done.code == 0, done.out
    faults.wait_until(lambda: status(db)["source"] == "unchanged")
    with db.connect("source_owner") as conn:
        conn.execute("UPDATE hidden.patient SET days = 0")
    faults.wait_until(lambda: status(db)["source"] == "perhaps_changed")


def test_nothing_follows_from_counts_that_began_anew(db: Database, folder: Path) -> None:
    """As after pg_upgrade or a crash: equal numbers would be chance."""
    assert pganon("run", str(folder / "patients.json"), "--dsn", db.dsn()).code == 0
    faults.wait_until(lambda: status(db)["source"] == "unchanged")
    db.admin.execute("SELECT pg_stat_reset()")
    faults.wait_until(lambda: status(db)["source"] == "unknown")
    assert status(db, "patients")["source"] == "unchanged"
