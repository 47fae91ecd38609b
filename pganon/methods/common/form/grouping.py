"""Buckets of every record, as a method gives them to the form."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlglot import exp

from pganon.encode.people import owner_columns
from pganon.encode.work import CODED
from pganon.forms.stored_relations import distinct_groups, repeated
from pganon.forms.work import GROUPED
from pganon.identifiers import QualifiedName
from pganon.methods.common.form.members import code_columns, identity
from pganon.privacy.rows import Relation
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import col, query, stacked
from pganon.steps import State, Step, shared


def bucket(partition: int) -> str:
    """Work column with the bucket of a partition, by its place in the arrangement."""
    return f"b{partition}"


@dataclass(frozen=True)
class Grouping:
    """Groups of a method, as the form reads them.

    Attributes:
        groups: SELECT gid: the buckets of a partition, named as by :func:`bucket`, each once.
        records: SELECT of :func:`record_columns` and the buckets of all partitions, which are
            named last: a row per released record of a part, given its number from 0 and the number
            of parts.
        beside: steps that `records` needs and that may go on while numbers are drawn.
        after: steps once they are drawn.
        duplicate_keys: as of a :class:`PublishedForm`, from the tables that `records` reads.
        parts: in how many parts records may be read side by side. More than one pays where a part
            is the work of one server process.
        counterfeits: SELECT of the first partition's gid, and sensitive columns `v<j>`: values in
            sensitive tables that nobody has; None if there are none.
    """

    groups: Callable[[ReleaseSpec, State, str], exp.Select]
    records: Callable[[ReleaseSpec, State, Sequence[str], int, int], exp.Select]
    duplicate_keys: Callable[[ReleaseSpec, State], Sequence[exp.Select]]
    beside: Callable[[ReleaseSpec], Sequence[Step]] = lambda spec: ()
    after: Callable[[ReleaseSpec], Sequence[Step]] = lambda spec: ()
    parts: int = 1
    counterfeits: Callable[[ReleaseSpec, State], exp.Select | None] = lambda spec, state: None

    def number(self, state: State) -> int:
        """In how many parts they are read."""
        return self.parts if shared(state) else 1

    def table(self, state: State, part: int) -> QualifiedName:
        """Work table (numbers of buckets, codes, published values, identity) of a part."""
        return state.work(f"group_records{part}")

    def all_records(self, state: State) -> Relation:
        """Those of all parts."""
        tables = [self.table(state, part) for part in range(self.number(state))]
        if len(tables) == 1:
            return tables[0]
        return stacked([query("select r.* from r", {"r": table}) for table in tables])


def record_columns(spec: ReleaseSpec) -> list[str]:
    """Columns of `coded` that the staged relations are made from."""
    names = [*code_columns(spec), *[f"v{item.index}" for item in spec.sensitive]]
    names += [f"p{item.index}" for item in spec.carried]
    key = identity(spec)
    return list(dict.fromkeys([*names, *([key] if key else []), *owner_columns(spec)]))


def _grouped(
    spec: ReleaseSpec, state: State, buckets: Sequence[str], part: int, parts: int
) -> exp.Select:
    tree = query(
        "select 1 from g join c on c.rid = g.rid",
        {"g": state.work(GROUPED), "c": state.work(CODED)},
    )
    columns = [col(name, "c") for name in record_columns(spec)]
    return tree.select(*columns, *[col(name, "g") for name in buckets], append=False)


NUMBERED = Grouping(
    groups=lambda spec, state, name: distinct_groups(state, GROUPED, name),
    records=_grouped,
    duplicate_keys=lambda spec, state: [repeated(state.work(GROUPED), "rid")],
)
"""GROUPED, to be joined with CODED by the numbers of records."""
