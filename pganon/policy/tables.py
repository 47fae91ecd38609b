"""Several related tables in one policy: a root with a row per person, events of people, lookups.

The root is a policy of its own: its source, key, columns and condition stand for those of a policy
about one table. What the others add is in `tables`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, BeforeValidator, Discriminator, Field, Tag

from pganon.policy.columns import ColumnPolicy
from pganon.policy.hierarchies import (
    CsvHierarchy,
    Declaration,
    FunctionHierarchy,
    Hierarchy,
    OrderHierarchy,
    TableHierarchy,
)
from pganon.policy.labels import Condition, Name, Names, RelationName, no_repeats
from pganon.policy.refusals import (
    Place,
    Refusal,
    known_word,
    nearest,
    refuse,
    show,
)

if TYPE_CHECKING:
    from pganon.policy.rules import Written


Where = Annotated[Condition, Field(max_length=20_000)] | None


class RootTable(Declaration):
    """The table with a row per person."""

    source: RelationName
    key: Names
    where: Where = None
    columns: dict[Name, ColumnPolicy]


class Reference(Declaration):
    """Columns that name a row of another table by its key."""

    columns: Names
    table: Name


def _references(value: object) -> object:
    """`{column: table}`, or a list of `{columns: [...], table: ...}` where keys have several."""
    if isinstance(value, Mapping):
        return [{"columns": [column], "table": table} for column, table in value.items()]
    return value


References = Annotated[
    tuple[Reference, ...],
    Field(strict=False, min_length=1),
    BeforeValidator(
        _references, json_schema_input_type=dict[str, str] | list[dict[str, str | list[str]]]
    ),
]


class EventColumn(Declaration):
    """A column of a table of events.

    Attributes:
        references: the lookup whose key its values are.
        shown: level of the hierarchy that is published in place of the values.
    """

    tags: ClassVar = {"hierarchy": 1}

    role: Annotated[
        Literal["sensitive", "insensitive", "identifying"],
        known_word("role of a column of events"),
    ]
    references: Name | None = None
    hierarchy: Hierarchy | None = None
    shown: Annotated[int, Field(ge=1, le=64)] | None = None
    published_as: Name | None = Field(default=None, alias="as")


Pair = Annotated[tuple[Name, Name], Field(strict=False), AfterValidator(no_repeats)]


class Period(Declaration):
    """The time of rows, of which closed periods are published once."""

    column: Name
    every: Annotated[Literal["month", "quarter", "year"], known_word("length of a period")]


class EventTable(Declaration):
    """Rows about people, each of one person.

    Attributes:
        references: over which its rows lead to the root.
        together: pairs of columns whose values of one row are published together.
        orphans: what happens to rows that lead to nobody.
        groups: whether its values stand in the groups of all tables, or in groups of their own.
        membership: whether it is sensitive, too, that somebody has rows.
        period: when its rows are from, of which later ones are added to a version.
    """

    examples: ClassVar = {"source": "source: public.adult"}

    source: RelationName
    key: Names | None = None
    where: Where = None
    references: References
    columns: dict[Name, EventColumn]
    together: Annotated[tuple[Pair, ...], Field(strict=False)] = ()
    orphans: Annotated[Literal["refuse", "leave_out"], known_word()] = "refuse"
    groups: Annotated[Literal["common", "own"], known_word()] = "common"
    membership: Annotated[Literal["known", "sensitive"], known_word()] = "known"
    link: Annotated[Literal["group"], known_word("link")] = "group"
    period: Period | None = None

    @property
    def mentioned(self) -> set[str]:
        """Columns that it says something about."""
        named = [column for one in self.references for column in one.columns]
        return {*self.columns, *(self.key or ()), *named}


class LookupColumn(Declaration):
    """A column of a table without people, published as it is."""

    published_as: Name | None = Field(default=None, alias="as")


class LookupTable(Declaration):
    """A table without people, such as one of wards or drugs."""

    examples: ClassVar = {"source": "source: public.adult"}

    source: RelationName
    people: Annotated[Literal["none"], known_word()]
    key: Name
    columns: dict[Name, LookupColumn] = Field(default_factory=dict)

    @property
    def mentioned(self) -> set[str]:
        return {*self.columns, self.key}


TABLES = {"root": RootTable, "events": EventTable, "lookup": LookupTable}


def kind_of(table: object) -> str:
    """What a table is, from the keys that are written."""
    for kind, declared in TABLES.items():
        if isinstance(table, declared):
            return kind
    if isinstance(table, Mapping):
        if "people" in table:
            return "lookup"
        return "events" if "references" in table else "root"
    return "root"


Table = Annotated[
    Annotated[RootTable, Tag("root")]
    | Annotated[EventTable, Tag("events")]
    | Annotated[LookupTable, Tag("lookup")],
    Discriminator(kind_of),
]

OF_ROOT = {"source": "source", "columns": "columns", "where": "where", "individual": "key"}
"""Keys of a policy, and the keys of its root that stand for them."""


def root_of(tables: object) -> str | None:
    """The name of the one table that leads nowhere and is about people."""
    if not isinstance(tables, Mapping):
        return None
    roots = [name for name, table in tables.items() if kind_of(table) == "root"]
    return roots[0] if len(roots) == 1 else None


def rooted(data: Mapping[str, Any]) -> dict[str, Any]:
    """The policy with what its root says where a policy about one table says it."""
    data = dict(data)
    if data.get("tables", {}) == {}:
        return data
    root = root_of(data["tables"])
    if root is None:
        refuse(list(_no_root(data["tables"])))
    given = _given(data["tables"][root])
    refuse(
        [
            Refusal((key,), "is said by the root of tables", f"write it as tables.{root}.{name}")
            for key, name in OF_ROOT.items()
            if key in data and _alike(data[key]) != _alike(given.get(key))
        ]
    )
    return {**data, **given}


def _given(root: object) -> dict[str, Any]:
    """What the root says, by keys of a policy; the columns of its key are identifying ones."""
    if not isinstance(root, Mapping):
        return {}  # it is refused
    given = {key: root[name] for key, name in OF_ROOT.items() if name in root}
    columns, key = given.get("columns"), _alike(given.get("individual"))
    if isinstance(columns, Mapping) and isinstance(key, list):
        missing = [name for name in key if isinstance(name, str) and name not in columns]
        given["columns"] = {**columns, **{name: {"role": "identifying"} for name in missing}}
    return given


def _alike(value: object) -> object:
    """The same for one name, and a list of it."""
    return list(value) if isinstance(value, list | tuple) else [value]


def in_root(root: str | None, place: Place) -> Place:
    """Where a key stands that the root has in place of the policy."""
    if root is None or not place or place[0] not in OF_ROOT:
        return place
    return ("tables", root, OF_ROOT[str(place[0])], *place[1:])


def _no_root(tables: object) -> Iterator[Refusal]:
    if not isinstance(tables, Mapping) or not tables:
        yield Refusal(("tables",), "must be a mapping of names to tables", _EXAMPLE)
        return
    roots = [name for name, table in tables.items() if kind_of(table) == "root"]
    if not roots:
        hint = "leave references out of the table with a row per person"
        yield Refusal(("tables",), "no table is the root, to which the rows of others lead", hint)
    for name in roots[1:]:
        yield Refusal(
            ("tables", name),
            f"{show(roots[0])} and {show(name)} both lead nowhere, and one is the root",
            "add references to the table of events, or people: none to one without people",
        )


_EXAMPLE = "see `pganon policy init TABLE --tables`"

_OPTIONS = {
    "exclusions": (),
    "suppression_limit": 0.0,
    "on_infeasible": "refuse",
    "records_per_individual": "one",
    "leavers": "keep",
    "inference": None,
    "aliases": None,
    "regions": "none",
}
"""Keys that say nothing of related tables, or not in this version, and what they are without."""

_MODELS = frozenset(
    {
        "k_anonymity",
        "event_share",
        "alpha_k_anonymity",
        "distinct_l_diversity",
        "entropy_l_diversity",
        "recursive_cl_diversity",
        "t_closeness",
        "beta_likeness",
        "delta_disclosure",
    }
)
_UNKEPT = (CsvHierarchy, TableHierarchy, FunctionHierarchy, OrderHierarchy)
"""Hierarchies that are read from elsewhere."""


def table_refusals(policy: Written) -> Iterator[Refusal]:
    """Refusals of related tables, and of what only these have."""
    tables: Mapping[str, Any] = policy.keys.get("tables") or {}
    if not tables:
        yield from _only_of_tables(policy)
        return
    if not all(isinstance(table, tuple(TABLES.values())) for table in tables.values()):
        return  # wrong in itself
    yield from _options(policy)
    yield from _models(policy, tables)
    for name, table in tables.items():
        if isinstance(table, EventTable):
            yield from (r.below("tables", name) for r in _events(name, table, tables))
    graph = {
        name: {r.table for r in table.references}
        for name, table in tables.items()
        if isinstance(table, EventTable)
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        way = " -> ".join(error.args[1][::-1])
        yield Refusal(("tables",), f"references lead in a circle: {way}", "remove one of them")
    yield from _periods(policy, tables)


def _periods(policy: Written, tables: Mapping[str, Any]) -> Iterator[Refusal]:
    """Periods are added to a version, of the same length everywhere, and where few have rows in one
    it is left out."""
    events = {name: one for name, one in tables.items() if isinstance(one, EventTable)}
    timed = {name: one.period for name, one in events.items() if one.period is not None}
    first = next(iter(timed.values()), None)
    for name, period in timed.items():
        place = ("tables", name, "period")
        if policy.keys.get("refresh") != "increments":
            hint = "write refresh: increments, or remove period"
            yield Refusal(place, "is for releases that grow by closed periods", hint)
        if first is not None and period.every != first.every:
            message = f"is every {period.every}, and that of another table every {first.every}"
            yield Refusal((*place, "every"), message, f"write {first.every} for all of them")
        above = next((n for n in _above(name, events) if n in timed), None)
        if above is not None:
            message = f"rows lead over {show(above)}, and are of the period of its rows"
            yield Refusal(place, message, "remove one of the two")
        declared = events[name].columns.get(period.column)
        if declared is not None and declared.role == "sensitive":
            message = "is sensitive, and every value is shown with its period"
            yield Refusal((*place, "column"), message, "give it another role, or remove period")
    for name, table in events.items():
        if table.membership == "sensitive" and timed:
            yield Refusal(
                ("tables", name, "membership"),
                "a group is left out of a period in which few of its people have rows, which tells"
                " of them",
                "remove membership, or period",
            )


def _above(name: str, events: Mapping[str, EventTable]) -> set[str]:
    """Tables of events over which rows lead; references that go in a circle are refused."""
    found: set[str] = set()
    waiting = [name]
    while waiting:
        one = events.get(waiting.pop())
        more = {r.table for r in one.references} - found if one is not None else set[str]()
        found |= more
        waiting += more
    return found - {name}


def _only_of_tables(policy: Written) -> Iterator[Refusal]:
    for name, column in policy.columns.items():
        if column is not None and column.apart:
            yield Refusal(("columns", name, "apart"), "is for policies with tables", "remove apart")
    if policy.keys.get("group_size") is not None:
        yield Refusal(("group_size",), "is for policies with tables", "remove group_size")
    for number, model in enumerate(policy.models):
        if model is not None and model.model == "event_share":
            yield Refusal(("privacy", number), "event_share is for policies with tables", None)


def _options(policy: Written) -> Iterator[Refusal]:
    method, keys = policy.method, policy.keys
    yield from policy.registry.unsupported(method, "tables", ("method", "name"), "tables")
    if method is not None and "tables" in method.supports and method.encoding.order != "none":
        yield Refusal(
            ("method",),
            "people with the same quasi-identifiers are to stay together in related tables",
            "remove variant",
        )
    publish, report = keys.get("publish"), keys.get("report")
    rows: list[tuple[Place, object, object]] = [
        *[((key,), keys.get(key), default) for key, default in _OPTIONS.items()],
        *[(("publish", k), getattr(publish, k, False), False) for k in ("reference", "labels")],
        (("report", "population"), getattr(report, "population", None), None),
    ]
    for name, column in policy.columns.items():
        if column is None:
            continue
        at = ("columns", name)
        rows += [((*at, "shown"), column.shown, "none"), ((*at, "mean"), column.mean, False)]
        if column.role in ("individual", "weight"):
            hint = "write identifying, and key: in the table" if column.role == "individual" else ""
            message = f"role {column.role} is not for related tables"
            yield Refusal((*at, "role"), message, hint or "leave the column out")
        if isinstance(column.hierarchy, CsvHierarchy):
            hint = "import the file, and name the table: {table: schema.name}"
            yield Refusal((*at, "hierarchy"), "csv is not for related tables", hint)
        if column.apart and column.role != "quasi_identifying":
            message = "apart is for quasi_identifying columns"
            yield Refusal((*at, "apart"), message, "remove apart")
    for place, value, default in rows:
        if value not in (default, None):
            yield Refusal(place, f"{place[-1]} is not for related tables", f"remove {place[-1]}")


def _models(policy: Written, tables: Mapping[str, Any]) -> Iterator[Refusal]:
    models = [(n, model) for n, model in enumerate(policy.models) if model is not None]
    for number, model in models:
        if model.model not in _MODELS or model.counted_in is not None:
            message = f"{model.model} is not for related tables"
            yield Refusal(("privacy", number), message, "remove it")
    if not any(model.model == "k_anonymity" for _, model in models):
        message = "no k_anonymity says how many people groups and tables have at least"
        yield Refusal(("privacy",), message, "add {model: k_anonymity, k: 5}")
    shares = [model for _, model in models if model.model == "event_share"]
    for number, model in models:
        if model.model == "event_share":
            yield from (r.below("privacy", number) for r in _of_share(model, tables))
    for name, table in tables.items():
        if not isinstance(table, EventTable):
            continue
        for column, declared in table.columns.items():
            if declared.role == "sensitive" and not any(s.bounds(name, column) for s in shares):
                yield Refusal(
                    ("tables", name, "columns", column),
                    "is sensitive, and no event_share bounds who has its values",
                    "add {model: event_share, beta: 0.9} to privacy",
                )
        if table.membership == "sensitive" and not any(s.bounds(name, None) for s in shares):
            yield Refusal(
                ("tables", name, "membership"),
                "no event_share without a column bounds who has rows",
                "add {model: event_share, beta: 0.9} to privacy",
            )


def _of_share(model: Any, tables: Mapping[str, Any]) -> Iterator[Refusal]:
    events = [name for name, table in tables.items() if isinstance(table, EventTable)]
    if model.table is not None and model.table not in events:
        message = f"{show(model.table)} is no table of events"
        yield Refusal(("table",), message, nearest(model.table, events))
        return
    if model.of_column is None:
        return
    if model.table is None:
        yield Refusal(("table",), "is missing beside column", "name the table of the column")
        return
    columns = tables[model.table].columns
    declared = columns.get(model.of_column)
    if declared is None or declared.role != "sensitive":
        sensitive = [name for name, column in columns.items() if column.role == "sensitive"]
        message = f"{show(model.of_column)} is no sensitive column of {model.table}"
        yield Refusal(("column",), message, nearest(model.of_column, sensitive))


def _events(name: str, table: EventTable, tables: Mapping[str, Any]) -> Iterator[Refusal]:
    published = [c for c, column in table.columns.items() if column.role != "identifying"]
    if not published:
        yield Refusal(("columns",), "no column is sensitive or insensitive", "declare one")
    used = set(table.key or ())
    for number, reference in enumerate(table.references):
        place = ("references", number)
        other = tables.get(reference.table)
        if other is None:
            message = f"{show(reference.table)} is no table of the policy"
            yield Refusal(place, message, nearest(reference.table, tables))
            continue
        if isinstance(other, LookupTable):
            hint = "write references: in the column that has its key"
            yield Refusal(place, f"{show(reference.table)} is a table without people", hint)
            continue
        if other.key is None:
            message = f"{show(reference.table)} has no key that rows could name"
            yield Refusal(place, message, f"add key: to {reference.table}")
        elif len(other.key) != len(reference.columns):
            yield Refusal(place, f"the key of {show(reference.table)} has other columns", None)
        used.update(reference.columns)
    for column, declared in table.columns.items():
        yield from (
            r.below("columns", column)
            for r in _event_column(column, declared, used, tables, table.together)
        )
    yield from _together(table)
    if table.membership == "sensitive":
        leading = {r.table: tables.get(r.table) for r in table.references}
        parents = {n: one for n, one in leading.items() if isinstance(one, EventTable)}
        others = [n for n, one in parents.items() if "own" in (table.groups, one.groups)]
        if others:
            yield Refusal(
                ("membership",),
                f"with groups: own nobody counts who has rows in {show(others[0])} there",
                "use groups: common",
            )


def _event_column(
    name: str,
    column: EventColumn,
    references: set[str],
    tables: Mapping[str, Any],
    together: Sequence[tuple[str, str]],
) -> Iterator[Refusal]:
    if column.role == "identifying":
        given = [k for k in ("references", "hierarchy", "shown") if getattr(column, k) is not None]
        given += ["as"] if column.published_as is not None else []
        for key in given:
            yield Refusal((key,), "an identifying column is never published", f"remove {key}")
        return
    if name in references:
        message = "names rows about people, and is never published"
        yield Refusal((), message, "remove it, or give it the role identifying")
    if column.references is not None:
        lookups = [n for n, table in tables.items() if isinstance(table, LookupTable)]
        if column.references not in lookups:
            message = f"{show(column.references)} is no table with people: none"
            yield Refusal(("references",), message, nearest(column.references, lookups))
        if column.hierarchy is not None:
            message = "a column that names rows of a lookup is published as it is"
            yield Refusal(("hierarchy",), message, "remove hierarchy")
    if (column.hierarchy is None) != (column.shown is None):
        missing = "shown" if column.shown is None else "hierarchy"
        hint = "shown: 1 publishes the first level" if missing == "shown" else "remove shown"
        yield Refusal((missing,), "is missing: hierarchy and shown go together", hint)
    if isinstance(column.hierarchy, _UNKEPT):
        hint = "use intervals, date, prefix, codes or inline"
        yield Refusal(("hierarchy",), f"{column.hierarchy.kind} is not for columns of events", hint)
    seconds = [pair for pair in together if pair[1] == name]
    if column.references is not None and seconds:
        message = "stands second in together, where lookups are not joined"
        yield Refusal(("references",), message, "exchange the two columns, or remove references")


def _together(table: EventTable) -> Iterator[Refusal]:
    firsts = {pair[0] for pair in table.together}
    seconds = set[str]()
    for number, pair in enumerate(table.together):
        place = ("together", number)
        for name in pair:
            column = table.columns.get(name)
            if column is None or column.role == "identifying":
                message = f"{show(name)} is no published column of the table"
                yield Refusal(place, message, nearest(name, table.columns))
        second = pair[1]
        if second in seconds or second in firsts:
            message = f"{show(second)} would be published twice, which gives away what is left out"
            yield Refusal(place, message, "a column stands second in one pair, and is no first one")
        seconds.add(second)
