"""The input of the steps of m-invariance, which every method supplies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlglot import exp

from pganon.encode.records import PLACE
from pganon.encode.work import sensitive_values
from pganon.forms.elements import text_key, vector_key
from pganon.privacy.rows import Relation
from pganon.resolved.invariance import Signatures
from pganon.resolved.model import ReleaseSpec, Sensitive
from pganon.sqltools import aliased, col, equal, named, query
from pganon.steps import State


@dataclass(frozen=True)
class InvarianceContext:
    """Records of an m-invariant release.

    Attributes:
        l: new records in new groups must be l-eligible in every sensitive column.
        records: (:attr:`order`, place, :attr:`vector`, :attr:`shown`, s<j>, v<j> and who they are
            of): the encoded records, with their places along the curve.
        order: column with a random order of the records.
        vector: column with a number for the values of the record in all sensitive columns.
        vectors: SELECT (vector, s<j>): all vectors.
        shown: columns that later steps read of records in groups.
        carried: columns that later steps read of new records without a group.
    """

    spec: ReleaseSpec
    l: int  # noqa: E741 (the field's own letter)
    records: Callable[[State], Relation]
    order: str
    vector: str
    vectors: Callable[[State], Relation]
    shown: Sequence[str]
    carried: Sequence[str]

    @property
    def items(self) -> tuple[Sensitive, ...]:
        return self.spec.invariant_items

    @property
    def codes(self) -> list[str]:
        """Work columns with the codes of their values."""
        return [f"s{item.index}" for item in self.items]

    @property
    def signatures(self) -> Signatures:
        signatures = self.spec.signatures
        assert signatures is not None
        return signatures

    @property
    def columns(self) -> list[str]:
        """Columns that are kept of every record, whatever its group."""
        return list(
            dict.fromkeys([self.order, PLACE, self.vector, *self.codes, *self.shown, *self.carried])
        )

    def vector_of(self, table: str) -> exp.Column:
        return col(self.vector, table)

    def keyed(self, state: State) -> exp.Select:
        """SELECT code, key of every vector."""
        tree = query("select 1 from x", {"x": self.vectors(state)})
        keys: list[exp.Expr] = []
        for item in self.items:
            alias = f"d{item.index}"
            on = exp.EQ(this=col("code", alias), expression=col(f"s{item.index}", "x"))
            tree = tree.join(aliased(state.work(sensitive_values(item.index)), alias), on=on)
            keys.append(text_key(col("value", alias)))
        return tree.select(
            named(self.vector_of("x"), "code"), named(vector_key(keys), "key"), append=False
        )


def vectors(spec: ReleaseSpec, records: Relation) -> exp.Select:
    """SELECT vector, s<j>: a number for every combination of codes of the records."""
    codes = [f"s{item.index}" for item in spec.invariant_items]
    each = query("select distinct 1 from r", {"r": records}).select(
        *[col(code, "r") for code in codes], append=False
    )
    order = exp.Order(expressions=[exp.Ordered(this=col(code, "x")) for code in codes])
    numbered = exp.Window(this=exp.func("row_number"), order=order)
    return query("select x.* from x", {"x": each}).select(named(numbered, "vector"))


def with_vectors(spec: ReleaseSpec, records: Relation, numbered: Relation) -> exp.Select:
    """SELECT of the records and their `vector`; `numbered` is the result of :func:`vectors`."""
    codes = [f"s{item.index}" for item in spec.invariant_items]
    return query(
        "select r.*, x.vector from r join x on :same",
        {"r": records, "x": numbered},
        same=equal(codes, "r", "x"),
    )
