"""Source and published relations as codes.

msource          (c<i>, s<j>, n)             records of the source, suppressed ones too
mqit<p>, mst<p>  (groups.., c<i>, s<j>, n)   the relations, by their place in the arrangement; all
                 but the last QIT have `size`, the number of records of the bucket
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from sqlglot import exp

from pganon.encode.sensitive import looked_up, with_code
from pganon.encode.work import dictionary
from pganon.forms.elements import element
from pganon.forms.form import Tables
from pganon.forms.shape import PublishedRelation, shown
from pganon.methods.common.arrangement import Arrange, Arrangement
from pganon.metrics import boxes
from pganon.metrics.boxes import box_table
from pganon.metrics.source import coded_records
from pganon.policy.options import CLASS_ID, GROUP_ID
from pganon.resolved.model import Attribute, ReleaseSpec
from pganon.sqltools import cast, col, fragment, named, query
from pganon.steps import State, Step, table


@dataclass(frozen=True)
class Part(PublishedRelation):
    """A relation of the release, or shares of the box of every class.

    Attributes:
        work: its work table.
        box: whether it is no relation of the release.
    """

    work: str = ""
    box: bool = False

    @property
    def codes(self) -> list[str]:
        return [f"c{attribute.index}" for attribute in self.attributes]


@dataclass(frozen=True)
class Parts:
    """The relations of a release.

    Attributes:
        linking: the last QIT, whose rows say in which buckets they are.
        slices: the other QITs, or the columns of generalized classes.
        sensitive_tables: the sensitive tables.
    """

    linking: Part
    slices: tuple[Part, ...]
    sensitive_tables: tuple[Part, ...]

    @classmethod
    def of(cls, arrangement: Arrangement) -> Parts:
        boxed = arrangement.linking.attributes if arrangement.generalized else ()
        shares = [
            Part("", "record", (GROUP_ID,), (a,), link=CLASS_ID, work=box_table(a), box=True)
            for a in boxed
        ]
        quasi = [Part(**vars(t), work=f"mqit{i}") for i, t in enumerate(arrangement.quasi)]
        if boxed:
            quasi = [*shares, *[replace(part, attributes=()) for part in quasi]]
        sensitive = [Part(**vars(t), work=f"mst{i}") for i, t in enumerate(arrangement.sensitive)]
        return cls(quasi[-1], tuple(quasi[:-1]), tuple(sensitive))

    @property
    def every(self) -> tuple[Part, ...]:
        return (*self.slices, self.linking, *self.sensitive_tables)

    @property
    def boxes(self) -> tuple[Attribute, ...]:
        """The quasi-identifiers, if they are generalized."""
        return tuple(part.attributes[0] for part in self.slices if part.box)

    def beside(self, asked: Part | None = None) -> list[Part]:
        """Relations with quasi-identifiers, without the last QIT and `asked`."""
        return [
            part
            for part in (*self.slices, *self.sensitive_tables)
            if part.attributes and part != asked
        ]

    @property
    def beside_any(self) -> list[Part]:
        """Relations that are beside any sensitive table."""
        relations = [part for asked in self.sensitive_tables for part in self.tables_beside(asked)]
        return list(dict.fromkeys(relations))

    def tables_beside(self, asked: Part) -> list[Part]:
        """Members of :meth:`beside` that are published relations."""
        return [part for part in self.beside(asked) if not part.box]


PartsOf = Callable[[State], Parts]


def parts_of(spec: ReleaseSpec, arrange: Arrange) -> PartsOf:
    """The relations of a release by the state of its run."""
    return lambda state: Parts.of(arrange(spec, state))


def steps(spec: ReleaseSpec, arrange: Arrange, tables: Callable[[State], Tables]) -> list[Step]:
    """A step for the source, and one for every relation that the arrangement may have."""
    source = table(
        "metric_source", "source records by codes", lambda s: coded_records(spec, s), into="msource"
    )
    parts = parts_of(spec, arrange)
    most = parts(State(0))
    chain: list[Step] = [source]
    chain += [_step(parts, tables, part.work) for part in most.every if not part.box]
    if most.boxes:
        chain += boxes.steps(spec, lambda s: shown(arrange(spec, s).shape, tables(s)))
    return chain


def _step(parts: PartsOf, tables: Callable[[State], Tables], work: str) -> Step:
    def here(state: State) -> list[Part]:
        return [part for part in parts(state).every if part.work == work]

    def select(state: State) -> exp.Expr:
        (part,) = here(state)
        # Codes instead of values; equal rows are counted as one.
        tree = query("select 1 from t", {"t": tables(state)[part.part]}).select(
            *[col(name, "t") for name in part.groups], append=False
        )
        for attribute in part.attributes:
            i = attribute.index
            shown, published = (
                element(attribute, col("value", f"d{i}")),
                col(attribute.published, "t"),
            )
            on = exp.EQ(this=_text(shown), expression=_text(published))
            code = fragment("coalesce(:c, 0)", c=col("code", f"d{i}"))
            tree = looked_up(tree, state.work(dictionary(i)), f"d{i}", on).select(
                named(code, f"c{i}")
            )
        for item in part.sensitive:
            tree = with_code(tree, item, col(item.published, "t"), state)
        tree = tree.select(named(fragment("t.count" if part.count else "1"), "n"))
        names = [*part.groups, *part.codes, *[f"s{item.index}" for item in part.sensitive]]
        grouped = query("select sum(x.n)::float8 as n from x", {"x": tree})
        if part != parts(state).linking:
            number = col(part.groups[0], "x")
            size = fragment("(sum(sum(x.n)) over (partition by :g))::float8", g=number)
            grouped = grouped.select(named(size, "size"))
        columns = [col(name, "x") for name in names]
        return grouped.select(*columns).group_by(*[column.copy() for column in columns])

    return table(
        f"metric_{work[1:]}",
        "a published relation as codes",
        select,
        into=work,
        when=lambda s: bool(here(s)),
    )


def _text(value: exp.Expr) -> exp.Expr:
    return fragment(':v collate "C"', v=cast(exp.paren(value), "text"))
