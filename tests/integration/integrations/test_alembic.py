"""Releases in migrations of Alembic, with Alembic itself."""

from __future__ import annotations

import contextlib
import io
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from alembic.config import Config
from alembic.util import CommandError

from pganon.sqltext import json_text
from tests.support.harness import faults, queue
from tests.support.harness.cluster import Database
from tests.support.sources.migrations import k, write

ENV = """
import psycopg
from alembic import context
from sqlalchemy import create_engine, pool, {schema}
import pganon.integrations.alembic

settings = dict(
    target_metadata=METADATA,
    transaction_per_migration=True,
    include_name=lambda name, kind, parents: name != "patient",
    {options}
)
if context.is_offline_mode():
    context.configure(url="postgresql+psycopg://", literal_binds=True, **settings)
    with context.begin_transaction():
        context.run_migrations()
else:
    engine = create_engine(
        "postgresql+psycopg://", creator=lambda: psycopg.connect({dsn!r}), poolclass=pool.NullPool
    )
    with engine.{connect}() as connection:
        context.configure(connection=connection, **settings)
        with context.begin_transaction():
            context.run_migrations()
"""
HEAD = """
from alembic import op
revision = {revision!r}
down_revision = {before!r}
"""


class Project:
    """An application with a history of Alembic, and a folder of policies."""

    def __init__(self, db: Database, folder: Path) -> None:
        self.db = db
        self.folder = folder
        self.policies = folder / "policies"
        self.versions = folder / "scripts" / "versions"
        self.versions.mkdir(parents=True)
        template = Path(command.__file__).parent / "templates" / "generic" / "script.py.mako"
        shutil.copy(template, folder / "scripts")
        self.output = io.StringIO()
        self.config = Config(output_buffer=self.output)
        self.config.set_main_option("script_location", str(folder / "scripts"))
        self.config.set_main_option("path_separator", "os")
        self.env()

    def env(
        self, *, connect: str = "connect", policies: bool = True, metadata: str | None = None
    ) -> None:
        """Without models policies alone are compared: else every table was to be dropped."""
        models = ["alembic.autogenerate.*"] if metadata else []
        options = f"autogenerate_plugins={[*models, 'pganon']}, include_schemas={bool(models)},"
        options += f"pganon_policies={str(self.policies)!r}," if policies else ""
        text = ENV.format(
            schema="Column, Integer, MetaData, Table",
            dsn=self.db.dsn(),
            connect=connect,
            options=options,
        )
        text = text.replace("settings =", f"METADATA = {metadata or 'MetaData()'}\nsettings =", 1)
        (self.folder / "scripts" / "env.py").write_text(text, "utf-8")

    def revision(self, number: str, before: str | None, up: str, down: str = "pass") -> None:
        text = HEAD.format(revision=number, before=before)
        text += f"def upgrade():\n    {up}\n\ndef downgrade():\n    {down}\n"
        (self.versions / f"{number}.py").write_text(text, "utf-8")

    def generate(self, number: str) -> str:
        """Text of the revision that autogenerate writes."""
        with contextlib.redirect_stdout(io.StringIO()):
            command.revision(self.config, "generated", autogenerate=True, rev_id=number)
        (file,) = self.versions.glob(f"{number}_*.py")
        return file.read_text("utf-8")

    def upgrade(self, to: str = "head") -> None:
        command.upgrade(self.config, to)

    def downgrade(self, to: str) -> None:
        command.downgrade(self.config, to)

    def stamp(self) -> list[tuple[Any, ...]]:
        return self.db.admin.execute("SELECT version_num FROM alembic_version").fetchall()


@pytest.fixture
def project(db: Database, tmp_path: Path) -> Project:
    db.source(faults.SOURCE)
    db.admin.execute("GRANT CREATE ON SCHEMA public TO steward")
    return Project(db, tmp_path)


def _policy(**changes: Any) -> str:
    return repr({**faults.POLICY, "republication": "allow", **changes})


def _revisions(db: Database) -> list[int]:
    rows = db.admin.execute(
        "SELECT (document #>> '{privacy,0,k}')::int FROM pganon_private.policy ORDER BY revision"
    )
    return [row[0] for row in rows.fetchall()]


@pytest.mark.slow
def test_forwards_and_back(project: Project) -> None:
    db = project.db
    conn = db.owner()
    project.revision(
        "a1",
        None,
        f"op.apply_policy({_policy(privacy=k(8))}); op.release('patients')",
        "op.revert_release('patients')",
    )
    project.revision(
        "a2",
        "a1",
        f"op.apply_policy({_policy(privacy=k(12))}); op.release('patients', wait='10 min')",
        f"op.revert_release('patients'); op.apply_policy({_policy(privacy=k(8))})",
    )
    project.revision("a3", "a2", "op.withdraw_release('patients')", "op.release('patients')")
    with queue.serving(db.dsn()):
        project.upgrade("a2")
        assert faults.version(conn) == 2
        assert _revisions(db) == [8, 12]
        project.upgrade()
        assert faults.content(conn) is None
        project.downgrade("a2")
        assert faults.version(conn) == 3
        project.downgrade("a1")
        assert faults.version(conn) == 2, "the version before, of the same policy"
        assert _revisions(db) == [8, 12, 8]
        assert project.stamp() == [("a1",)]


@pytest.mark.slow
def test_autogenerate_writes_policies_that_differ(project: Project) -> None:
    db = project.db
    tree = project.policies / "city.csv"
    column = {"role": "quasi_identifying", "hierarchy": {"csv": "city.csv"}}
    columns = {**faults.POLICY["columns"], "city": column}
    write(project.policies, "patients", privacy=k(8), columns=columns)
    top = "any 100% $ok$"
    cities = ("Rome", "Oslo", "Bern", "Kyiv")
    tree.write_text("".join(f"{city};{top}\n" for city in cities), "utf-8")
    text = project.generate("b1")
    assert "op.release('patients')" in text
    assert "op.revert_release('patients')\n    # The policy of 'patients' stays" in text
    conn = db.owner()
    with queue.serving(db.dsn()):
        project.upgrade()
        assert faults.version(conn) == 1
        command.check(project.config)
        write(project.policies, "patients", privacy=k(12), columns=columns)
        with pytest.raises(CommandError, match="apply_policy"):
            command.check(project.config)
        text = project.generate("b2")
        assert "before={'release': 'patients'" in text
        assert "files_before={'city.csv'" in text
        project.upgrade()
        assert _revisions(db) == [8, 12]
        command.check(project.config)
        project.downgrade("b1")
        assert (_revisions(db), faults.version(conn)) == ([8, 12, 8], 1)
        project.upgrade()
        tree.write_text("".join(f"{city};any\n" for city in cities), "utf-8")
        assert "'city.csv': 'Rome;any\\n" in project.generate("b3"), "a file that it names counts"
    stored = db.admin.execute(
        "SELECT content FROM pganon_private.policy_file WHERE revision = 1"
    ).fetchone()
    assert stored is not None
    assert top in stored[0]


def test_a_policy_that_differs_in_words_alone(project: Project) -> None:
    """Defaults that are written out, or a policy that was applied by another way."""
    write(project.policies, "patients")
    queue.apply(project.db, requests=None)
    assert "op.apply_policy" not in project.generate("c1")
    project.upgrade()
    write(project.policies, "patients", on_infeasible="refuse")
    assert "op.apply_policy" not in project.generate("c2")


def test_beside_changes_of_the_schema_nothing_is_added(
    project: Project, caplog: pytest.LogCaptureFixture
) -> None:
    write(project.policies, "patients")
    table = 'MetaData()\nTable("visit", METADATA, Column("id", Integer, primary_key=True))'
    project.env(metadata=table)
    text = project.generate("d1")
    assert "op.create_table('visit'" in text
    assert "pganon" not in text, "nothing of pganon's schemas"
    assert "op.apply_policy" not in text
    assert "policies differ from those in the database: patients" in caplog.text
    project.upgrade()
    text = project.generate("d2")
    assert "op.apply_policy" in text
    assert "create_table" not in text


@pytest.mark.slow
def test_a_release_that_fails_is_not_stamped_and_can_be_repeated(project: Project) -> None:
    db = project.db
    both = "op.apply_policy({}); op.release('patients')"
    project.revision("e1", None, both.format(_policy(privacy=k(25))))
    with queue.serving(db.dsn()):
        with pytest.raises(CommandError, match="was refused: public") as caught:
            project.upgrade()
        assert "\nhint: " in str(caught.value)
        assert "CONTEXT" not in str(caught.value)
        assert project.stamp() == []
        assert _revisions(db) == [25]
        project.revision("e1", None, both.format(_policy(privacy=k(8))))
        project.upgrade()
    assert project.stamp() == [("e1",)]
    assert faults.version(db.owner()) == 1


def test_nobody_serves(project: Project) -> None:
    up = f"op.apply_policy({_policy()}); op.release('patients', wait='1 second')"
    project.revision("f1", None, up)
    with pytest.raises(CommandError, match="is waiting still"):
        project.upgrade()
    assert queue.states(project.db) == ["waiting"]


def test_a_policy_that_cannot_be_used_is_not_applied(project: Project) -> None:
    project.revision("g1", None, f"op.apply_policy({_policy(privacy=[])})")
    with pytest.raises(CommandError, match=r"op\.apply_policy of patients"):
        project.upgrade()
    assert _revisions(project.db) == []


def test_a_transaction_of_env(project: Project) -> None:
    project.env(connect="begin")
    project.revision("h1", None, f"op.apply_policy({_policy()}); op.release('patients')")
    with pytest.raises(CommandError, match="cannot commit the transaction") as caught:
        project.upgrade()
    assert "engine.connect()" in str(caught.value)
    assert _revisions(project.db) == [], "nothing was committed"


def test_no_folder_of_policies(project: Project) -> None:
    project.env(policies=False)
    with pytest.raises(CommandError, match="does not know where the policies are"):
        project.generate("i1")


def test_a_file_that_a_policy_names_and_that_is_missing(project: Project) -> None:
    column = {"role": "quasi_identifying", "hierarchy": {"csv": "none.csv"}}
    write(project.policies, "patients", columns={**faults.POLICY["columns"], "city": column})
    with pytest.raises(CommandError, match=r"patients\.json"):
        project.generate("l1")


def test_a_database_without_pganon(bare_db: Database, tmp_path: Path) -> None:
    bare_db.admin.execute("GRANT CREATE ON SCHEMA public TO steward")
    project = Project(bare_db, tmp_path)
    write(project.policies, "patients")
    with pytest.raises(CommandError, match="cannot be read"):
        project.generate("j1")


@pytest.mark.slow
def test_as_sql(project: Project) -> None:
    """Offline mode: the script is that of psql, and ends at the first error."""
    psql = shutil.which("psql")
    if psql is None:
        pytest.skip("psql was not found")
    tree = "Rome;100% of 'it' :a $b$\\\nOslo;100% of 'it' :a $b$\\\n"
    tree += "Bern;100% of 'it' :a $b$\\\nKyiv;100% of 'it' :a $b$\\\n"
    column = {"role": "quasi_identifying", "hierarchy": {"csv": "city.csv"}}
    columns = {**faults.POLICY["columns"], "city": column}
    policy = _policy(privacy=k(8), columns=columns)
    up = f"op.apply_policy({policy}, {{'city.csv': {tree!r}}}); op.release('patients')"
    project.revision("k1", None, up)
    command.upgrade(project.config, "head", sql=True)
    script = project.output.getvalue()
    assert re.search(r"COMMIT;\s+CALL pganon\.release\(.*\);\s+BEGIN;", script)
    db = project.db
    run = [psql, "-X", "-v", "ON_ERROR_STOP=1", "-f", "-", db.dsn()]

    def piped() -> subprocess.CompletedProcess[str]:
        return subprocess.run(run, input=script, text=True, capture_output=True, check=False)

    with queue.serving(db.dsn()):
        done = piped()
    assert done.returncode == 0, done.stderr
    assert faults.version(db.owner()) == 1
    row = db.admin.execute("SELECT content FROM pganon_private.policy_file").fetchone()
    assert row == (tree,)
    db.admin.execute("DELETE FROM alembic_version; DROP TABLE alembic_version")
    db.owner().execute("UPDATE pganon_private.policy SET problems = '{x}', checked_at = now()")
    done = piped()
    assert done.returncode == 3
    assert db.admin.execute("SELECT count(*) FROM alembic_version").fetchone() == (0,)


def test_literals_have_nothing_that_tools_replace() -> None:
    value = {"a%": "$$ %s ${x} é \\ '", "n": [1, True, None]}
    text = json_text(value)
    assert json.loads(text) == value
    assert not set(text) & set("%$\n\té")
