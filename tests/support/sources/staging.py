"""Small staged releases made by hand, for tests of publication."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from psycopg import sql

from pganon.catalog.roles import numbers
from pganon.identifiers import QualifiedName
from pganon.ledger import repository as ledger
from pganon.locks import hold
from pganon.publish.staging import Staged
from pganon.publish.transaction import PublishedVersion, fingerprint, publish, stamps
from pganon.resolved.republication import Prints
from pganon.steps import STAGE_SCHEMA
from pganon.steps.relations import (
    DATA_SCHEMA,
    PRIVATE_SCHEMA,
    CheckQuery,
    PublishedView,
    StoredRelation,
    ViewColumn,
)
from tests.support.harness.cluster import Connection

COLUMNS = (("class_id", "bigint"), ("age", "numrange"), ("disease", "text"))
ROWS = ((1, "[20,30]", "flu"), (1, "[20,30]", "cold"), (2, "[30,40]", "flu"))


GUARANTEE: tuple[dict[str, Any], ...] = (
    {
        "requirement": "k_anonymity k=1",
        "model": "k_anonymity",
        "k": 1,
        "reader": "who knows the quasi-identifiers of a person",
    },
)


def _stage(conn: Connection, run: int, part: str, columns: Any, rows: Any) -> StoredRelation:
    schema = PRIVATE_SCHEMA if part in ("members", "reference") else DATA_SCHEMA
    name = f"r{run}_{part}"
    staged = QualifiedName(STAGE_SCHEMA, name)
    types = sql.SQL(", ").join(
        sql.SQL("{} {}").format(sql.Identifier(c), sql.SQL(t)) for c, t in columns
    )
    conn.execute(sql.SQL("CREATE TABLE {} ({})").format(staged.identifier, types))
    marks = sql.SQL(", ").join(
        sql.SQL("{}::{}").format(sql.Placeholder(), sql.SQL(t)) for _, t in columns
    )
    for row in rows:
        conn.execute(sql.SQL("INSERT INTO {} VALUES ({})").format(staged.identifier, marks), row)
    return StoredRelation(part, staged, QualifiedName(schema, name))


def staged(
    conn: Connection,
    run: int,
    *,
    release: str = "adult",
    view: QualifiedName | None = None,
    columns: Sequence[tuple[str, str]] = COLUMNS,
    rows: Sequence[Sequence[Any]] = ROWS,
    extra_views: Sequence[str] = (),
    source: str = "public.adult",
    readers: tuple[str, ...] = ("analyst",),
    keep: int = 3,
    joined: bool = False,
    guarantee: Sequence[dict[str, Any]] = GUARANTEE,
) -> Staged:
    """A release of one table of records (or two that a view joins), and members."""
    relations = [_stage(conn, run, "records", columns, rows)]
    records = relations[0].stored
    names = sql.SQL(", ").join(sql.SQL("r.{}").format(sql.Identifier(c)) for c, _ in columns)
    source_text = sql.SQL("{} AS r").format(records.identifier)
    if joined:
        relations.append(_stage(conn, run, "classes", [("no", "bigint")], [(1,), (2,)]))
        source_text += sql.SQL(" JOIN {} AS c ON c.no = r.class_id").format(
            relations[1].stored.identifier
        )
    relations.append(_stage(conn, run, "members", [("record", "bigint")], [(7,), (8,), (9,)]))
    select = sql.SQL("SELECT {} FROM {}").format(names, source_text).as_string(conn)
    view = view or QualifiedName("published", release)
    tables = [r.staged for r in relations]
    described = tuple(ViewColumn(c, t, f"column {c}'s comment") for c, t in columns)
    views = [
        PublishedView(name, select, described, "2-anonymous: it's so")
        for name in (view, *(QualifiedName(view.schema, view.name + x) for x in extra_views))
    ]
    count = (
        sql.SQL("SELECT count(*) FILTER (WHERE n < 1) AS failing, min(n) AS measured FROM (")
        + sql.SQL("SELECT count(*) AS n FROM {} GROUP BY {}) AS g").format(
            records.identifier, sql.Identifier(columns[0][0])
        )
    ).as_string(conn)
    return Staged(
        run_id=run,
        release=release,
        source=source,
        method="mondrian",
        policy={"release": release, "source": source},
        policy_hash="abc",
        guarantee=list(guarantee),
        relations=tuple(relations),
        views=tuple(views),
        checks=(CheckQuery("k_anonymity", "k", None, 1, "at least", "", count),),
        readers={**dict.fromkeys(readers, 1), **numbers(conn, readers)},
        trusted={},
        keep=keep,
        row_count=len(rows),
        suppressed=0,
        stamps=tuple(stamp for stamp, _ in stamps(conn, tables)),
        fingerprint=fingerprint(conn, run, tables),
        prints=Prints(b"\x01", b"\x02"),
        partition={},
        sources=(source,),
        measures={"ncp": float("nan"), "k": 1},
    )


@contextmanager
def running(conn: Connection, release: str = "adult") -> Iterator[int]:
    """A started run whose locks this session holds; gives its number."""
    with ExitStack() as stack:
        stack.enter_context(hold(conn, release=release))
        run = ledger.start_run(conn, release, "abc")
        stack.enter_context(hold(conn, run_id=run))
        yield run


def release(conn: Connection, name: str = "adult", **options: Any) -> PublishedVersion:
    """Stage and publish one version."""
    with running(conn, name) as run:
        return publish(conn, staged(conn, run, release=name, **options))
