"""Related tables as the snapshot reads them: keys as text, values in the type that is published.

root_keys   (key)                     every row of the root, with those that are not released
events<n>   (stays, key, w<i>, v<j>, [period])   rows of a table of events: whether they fulfil its
            condition, their own key, the keys that their references name, values, and the day
lookup<n>   (key, c<j>)               a table without people
"""

from __future__ import annotations

from sqlglot import exp

from pganon.catalog.keys import key_text_of
from pganon.catalog.model import Column
from pganon.catalog.values import equal_key, stored
from pganon.encode.records import unlike
from pganon.resolved.model import ReleaseSpec
from pganon.resolved.tables import Events, Lookup
from pganon.sqltools import aliased, cast, col, fragment, named
from pganon.steps import CreateTable, State, table
from pganon.steps.facts import Fact, count

EVERYBODY = "root_keys"


def events_table(events: Events) -> str:
    return f"events{events.index}"


def rows_read(events: Events) -> Fact[int]:
    """Rows of a table that the snapshot has."""
    return count(f"read{events.index}", "tables_", assumed=40)


def lookup_table(lookup: Lookup) -> str:
    return f"lookup{lookup.index}"


def related_tables(spec: ReleaseSpec) -> tuple[CreateTable, ...]:
    """What the statement reads that reads the root; nothing for a release of one table."""
    if spec.related is None:
        return ()
    return (
        table(EVERYBODY, "every row of the root", lambda s: _everybody(spec, s)),
        *[
            table(
                events_table(one),
                f"rows of {one.name}",
                lambda s, one=one: _events(one),
                counted=rows_read(one),
            )
            for one in spec.related.events
        ],
        *[
            table(lookup_table(one), f"rows of {one.name}", lambda s, one=one: _lookup(one))
            for one in spec.related.lookups
        ],
    )


def _everybody(spec: ReleaseSpec, state: State) -> exp.Select:
    key = [column for name in spec.individual if (column := spec.source.column(name)) is not None]
    tree = exp.select(named(key_text_of(key, "src"), "key"))
    return tree.from_(aliased(spec.source.name, "src"))


def _events(events: Events) -> exp.Select:
    stays = exp.true() if events.where is None else fragment("(:c) is true", c=events.where.copy())
    own = key_text_of(events.key, "src") if events.key else cast(exp.null(), "text")
    tree = exp.select(named(stays, "stays"), named(own, "key"))
    for number, way in enumerate(events.ways):
        tree = tree.select(named(key_text_of(way.columns, "src"), f"w{number}"))
    for item in events.items:
        tree = tree.select(named(one_spelling(item.column), f"v{item.index}"))
    if events.period is not None:
        day = fragment("(:at)::date", at=col(events.period.name, "src"))
        tree = tree.select(named(day, "period"))
    return tree.from_(aliased(events.relation.name, "src"))


def _lookup(lookup: Lookup) -> exp.Select:
    tree = exp.select(named(key_text_of([lookup.key], "src"), "key"))
    for number, (column, _) in enumerate(lookup.columns):
        tree = tree.select(named(stored(column, col(column.name, "src")), f"c{number}"))
    return tree.from_(aliased(lookup.relation.name, "src"))


def one_spelling(column: Column) -> exp.Expr:
    """A value in the type that is published, the same for spellings that are equal."""
    value = stored(column, col(column.name, "src"))
    match column.kind:
        case "numeric":
            value = fragment("trim_scale(:v)", v=value)
        case "float":
            value = fragment("(:v + 0)", v=value)  # -0 and 0 are equal
        case "bpchar":
            value = fragment("rtrim(:v::text)", v=value)
        case _:
            return value
    return cast(value, column.stored_type)


def read_row(spec: ReleaseSpec, name: str) -> tuple[exp.Expr, list[object]]:
    """A row `t` of one of these tables, with names and types of its columns in the source."""
    assert spec.related is not None
    for events in spec.related.events:
        if events_table(events) == name:
            shown = ["stays", "key", *[f"w{number}" for number, _ in enumerate(events.ways)]]
            shown += ["period"] if events.period is not None else []
            columns = {f"v{item.index}": item.column for item in events.items}
            break
    else:
        lookup = next(one for one in spec.related.lookups if lookup_table(one) == name)
        shown = ["key"]
        columns = {f"c{number}": column for number, (column, _) in enumerate(lookup.columns)}
    row = [col(one, "t") for one in (*shown, *columns)]
    row += [text for name, column in columns.items() for text in unlike(column, col(name, "t"))]
    return exp.func("row", *row), [[c.name, c.type_name, *c.labels] for c in columns.values()]


def read_tables(spec: ReleaseSpec) -> list[str]:
    """Names of the tables that a release has beside its root."""
    if spec.related is None:
        return []
    events = [events_table(one) for one in spec.related.events]
    return [*events, *[lookup_table(one) for one in spec.related.lookups]]


def value_key(column: Column, value: exp.Expr) -> exp.Expr:
    """The text by which a published value finds a row of a lookup."""
    return cast(exp.paren(equal_key(column, value)), "text")
