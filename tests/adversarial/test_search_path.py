"""Attack: functions and operators of others that shadow the server's own."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from tests.support.harness.driver import publish
from tests.support.sources.builders import make_table, policy

SHADOWS = """
CREATE SCHEMA evil;
GRANT USAGE ON SCHEMA evil TO PUBLIC;
CREATE TABLE evil.called (what text);
GRANT INSERT ON evil.called TO PUBLIC;
CREATE FUNCTION evil.note(what text) RETURNS void LANGUAGE plpgsql AS
    $$BEGIN INSERT INTO evil.called VALUES (what); END$$;
CREATE FUNCTION evil.lower(text) RETURNS text LANGUAGE plpgsql AS
    $$BEGIN PERFORM evil.note('lower'); RETURN 'x'; END$$;
CREATE FUNCTION evil.sha256(bytea) RETURNS bytea LANGUAGE plpgsql AS
    $$BEGIN PERFORM evil.note('sha256'); RETURN '\\x00'; END$$;
CREATE FUNCTION evil.trim_scale(numeric) RETURNS numeric LANGUAGE plpgsql AS
    $$BEGIN PERFORM evil.note('trim_scale'); RETURN 0; END$$;
CREATE FUNCTION evil.hashint8extended(bigint, bigint) RETURNS bigint LANGUAGE plpgsql AS
    $$BEGIN PERFORM evil.note('hash'); RETURN 0; END$$;
CREATE FUNCTION evil.step(bigint, bigint) RETURNS bigint LANGUAGE plpgsql AS
    $$BEGIN PERFORM evil.note('sum'); RETURN 0; END$$;
CREATE AGGREGATE evil.sum(bigint) (SFUNC = evil.step, STYPE = bigint, INITCOND = '0');
CREATE FUNCTION evil.same(integer, integer) RETURNS boolean LANGUAGE plpgsql AS
    $$BEGIN PERFORM evil.note('='); RETURN true; END$$;
CREATE OPERATOR evil.= (FUNCTION = evil.same, LEFTARG = integer, RIGHTARG = integer);
CREATE FUNCTION evil.at_least(bigint, integer) RETURNS boolean LANGUAGE plpgsql AS
    $$BEGIN PERFORM evil.note('>='); RETURN true; END$$;
CREATE OPERATOR evil.>= (FUNCTION = evil.at_least, LEFTARG = bigint, RIGHTARG = integer);
CREATE TABLE evil.t (q integer, s text);
CREATE VIEW evil.pg_class AS SELECT * FROM pg_catalog.pg_class WHERE false;
"""


@pytest.mark.parametrize("setting", ["evil, pg_catalog, public", '"$user", evil, pg_catalog'])
@pytest.mark.slow
def test_a_hostile_search_path_of_the_role(db: Any, setting: str) -> None:
    source = db.connect("source_owner")
    source.execute("SET check_function_bodies = off")
    source.execute(SHADOWS.encode())
    make_table(source, {"q": "integer", "s": "text"}, [[n // 3, f"{n % 3}"] for n in range(12)])
    db.admin.execute(f"ALTER ROLE steward IN DATABASE {db.name} SET search_path = {setting}")
    db.admin.execute(f"ALTER DATABASE {db.name} SET search_path = {setting}")
    privacy = [
        {"model": "k_anonymity", "k": 3},
        {"model": "distinct_l_diversity", "column": "s", "l": 3},
        {"model": "entropy_l_diversity", "column": "s", "l": 2},
        {"model": "t_closeness", "column": "s", "t": 0.5},
    ]
    declared = policy({"q": "q", "s": "s"}, privacy, where="lower(s) <> 'x'")
    for variant in ("strict", "relaxed"):
        declared["method"] = {"name": "mondrian", "variant": variant}
        result = publish(db, declared)
        assert (result.records, result.utility.classes) == (12, 4)
    holds = db.owner().execute("SELECT bool_and(holds) FROM pganon.verify('r')").fetchone()
    assert holds == (True,)
    assert db.admin.execute("SELECT what FROM evil.called").fetchall() == []


def test_a_temporary_table_hides_nothing(db: Any) -> None:
    """A bare name means schema public, whatever the session's own tables are called."""
    make_table(db.connect("source_owner"), {"q": "integer"}, [[1], [2]])
    assert publish(db, policy({"q": "q"}, 2, source="t")).records == 2


READING = """
CREATE FUNCTION evil.positions(text[], text) RETURNS integer[] LANGUAGE plpgsql AS
    $$BEGIN PERFORM evil.note('array_positions'); RETURN '{}'; END$$;
ALTER FUNCTION evil.positions RENAME TO array_positions;
CREATE FUNCTION evil.cardinality(integer[]) RETURNS integer LANGUAGE plpgsql AS
    $$BEGIN PERFORM evil.note('cardinality'); RETURN 9; END$$;
CREATE FUNCTION evil.cardinality(text[]) RETURNS integer LANGUAGE plpgsql AS
    $$BEGIN PERFORM evil.note('cardinality'); RETURN 9; END$$;
CREATE FUNCTION evil.upper(numrange) RETURNS numeric LANGUAGE plpgsql AS
    $$BEGIN PERFORM evil.note('upper'); RETURN 9; END$$;
CREATE FUNCTION evil.more(integer, integer) RETURNS boolean LANGUAGE plpgsql AS
    $$BEGIN PERFORM evil.note('>'); RETURN false; END$$;
CREATE OPERATOR evil.> (FUNCTION = evil.more, LEFTARG = integer, RIGHTARG = integer);
CREATE FUNCTION evil.divided(numeric, numeric) RETURNS numeric LANGUAGE plpgsql AS
    $$BEGIN PERFORM evil.note('/'); RETURN 9; END$$;
CREATE OPERATOR evil./ (FUNCTION = evil.divided, LEFTARG = numeric, RIGHTARG = numeric);
CREATE FUNCTION evil.holds(numrange, numeric) RETURNS boolean LANGUAGE plpgsql AS
    $$BEGIN PERFORM evil.note('@>'); RETURN false; END$$;
CREATE OPERATOR evil.@> (FUNCTION = evil.holds, LEFTARG = numrange, RIGHTARG = numeric);
CREATE FUNCTION evil.holds(text[], text[]) RETURNS boolean LANGUAGE plpgsql AS
    $$BEGIN PERFORM evil.note('@>'); RETURN false; END$$;
CREATE OPERATOR evil.@> (FUNCTION = evil.holds, LEFTARG = text[], RIGHTARG = text[]);
CREATE FUNCTION evil.never(pg_catalog.numeric) RETURNS boolean LANGUAGE plpgsql AS
    $$BEGIN PERFORM evil.note('numeric'); RETURN true; END$$;
CREATE DOMAIN evil.numeric AS pg_catalog.numeric CHECK (evil.never(VALUE));
"""


def test_a_hostile_search_path_of_a_reader(db: Any) -> None:
    """Who reads releases through functions of pganon calls nothing that lies in front of the
    server's own, though the expressions become part of the query.
    """
    source = db.connect("source_owner")
    source.execute("SET check_function_bodies = off")
    source.execute(SHADOWS.encode())
    source.execute(READING.encode())
    analyst = db.connect("analyst")
    analyst.execute("SET search_path = evil, pg_catalog")
    row = analyst.execute(
        "SELECT pganon.share(numrange '[1,4]', 1, 2),"
        " pganon.share(ARRAY['a', 'b']::text[], 'a'::text),"
        " pganon.overlaps(numrange '[1,4]', 2), pganon.overlaps(ARRAY['a']::text[], 'a'::text)"
    ).fetchone()
    assert row == (Decimal("0.5"), Decimal("0.5"), True, True)
    assert db.admin.execute("SELECT what FROM evil.called").fetchall() == []
    analyst.execute("SELECT cardinality(array_positions(ARRAY['a']::text[], 'a'::text)) > 0")
    called = db.admin.execute("SELECT what FROM evil.called ORDER BY what").fetchall()
    assert [what for (what,) in called] == [">", "array_positions", "cardinality"]
