"""The parts of a statement about columns of which all rows of a bucket are published."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from pganon.estimation.release import Part, Published
from pganon.estimation.values import as_numeric, collated, holds, over
from pganon.sqltools import col, fragment, named, num, query


@dataclass(frozen=True)
class ExactPart:
    """Columns that are known together, in a query.

    Attributes:
        number: of the part, in names.
        condition: of WHERE.
        keys: expressions of GROUP BY by their numbers.
        measured: columns that are counted, added up or averaged, by their numbers.
    """

    part: Part
    columns: Mapping[str, Published]
    number: int
    condition: exp.Expr | None
    keys: Mapping[int, exp.Expr]
    measured: Mapping[int, Published]

    @property
    def key_names(self) -> list[str]:
        return [f"k{number}" for number in self.keys]

    def name(self, what: str) -> str:
        return f"{what}{self.number}"

    def value(self, name: str) -> exp.Expr:
        """A column of the view `t`, as its values are in the source."""
        return collated(self.columns[name], col(name, "t"))

    def in_buckets(self, bucket: str) -> ExactPart:
        """The same by the buckets of another column."""
        return replace(self, part=replace(self.part, bucket=bucket))

    @property
    def person(self) -> int | None:
        """The number of the column that tells individuals apart."""
        return next((i for i, c in self.measured.items() if c.form == "individual"), None)

    def totals(self) -> list[exp.Expr]:
        """Aggregates of a bucket: how many records match; of numbers how many, sum, squares."""
        m = self.matching
        weight = self.weight
        found = [
            named(
                fragment("coalesce(sum(:w) filter (where :m), 0)::bigint", w=weight, m=m),
                self.name("a"),
            )
        ]
        for number, column in self.measured.items():
            x = self.value(column.name)
            some = fragment(":m and :x is not null", m=m.copy(), x=x)
            found.append(
                named(
                    fragment(
                        "coalesce(sum(:w) filter (where :m), 0)::bigint", w=weight.copy(), m=some
                    ),
                    f"xa{number}",
                )
            )
            if column.is_number:
                for power, name in ((1, "total"), (2, "squares")):
                    x = as_numeric(column, self.value(column.name))
                    value = fragment(f":w * :x::float8 ^ {power}", w=weight.copy(), x=x)
                    found.append(
                        named(
                            fragment(
                                "coalesce(sum(:v) filter (where :m), 0)::float8",
                                v=value,
                                m=some.copy(),
                            ),
                            f"{name}{number}",
                        )
                    )
        return found

    def grouped(self) -> exp.Select:
        """(bucket, keys, ...): the same of every bucket and group."""
        if self.person is not None:
            return self._of_persons(self.person)
        tree = query(
            "select :b as bucket from t where :m",
            {"t": self.part.rows},
            b=col(self.part.bucket, "t"),
            m=self.matching,
        )
        tree = tree.select(*self.key_columns, *self.totals())
        return tree.group_by(*[num(place + 1) for place in range(1 + len(self.keys))])

    def _of_persons(self, number: int) -> exp.Select:
        """The same from records of individuals, with the number of these."""
        a = self.name("a")
        tree = query(
            f"select p.bucket, sum(p.e)::bigint as {a}, sum(p.e)::bigint as xa{number},"
            f" count(*) as persons{number}, sum(p.e)::float8 as total{number},"
            f" sum(p.e * p.e)::float8 as squares{number} from p",
            {"p": self._persons(number)},
        )
        keys = [col(name, "p") for name in self.key_names]
        return tree.select(*keys).group_by(col("bucket", "p"), *[key.copy() for key in keys])

    def _persons(self, number: int) -> exp.Select:
        """(bucket, e, keys): every individual, with its records that match."""
        tree = query(
            "select :b as bucket, count(*)::bigint as e from t where :m",
            {"t": self.part.rows},
            b=col(self.part.bucket, "t"),
            m=self.matching,
        )
        tree = tree.select(*self.key_columns)
        places = [num(place) for place in (1, *range(3, 3 + len(self.keys)))]
        return tree.group_by(*places, col(self.measured[number].name, "t"))

    def persons_in_order(self) -> exp.Select:
        """(bucket, keys, before): individuals, those with most records first.

        `before` is how many records those before it have.
        """
        assert self.person is not None
        window = exp.Window(
            this=fragment("sum(p.e)"),
            partition_by=[col(name, "p") for name in ("bucket", *self.key_names)],
            order=exp.Order(expressions=[exp.Ordered(this=col("e", "p"), desc=True)]),
            spec=exp.WindowSpec(kind="ROWS", start="UNBOUNDED", start_side="PRECEDING"),
        )
        return query(
            "select p.*, :upto - p.e as before from p",
            {"p": self._persons(self.person)},
            upto=window,
        )

    def rows(self, number: int) -> exp.Select:
        """(bucket, keys, x, copies, upto): values of a measured column, in order.

        `upto` is the number of the last copy among those of its bucket and group.
        """
        column = self.measured[number]
        value = self.value(column.name)
        tree = query(
            "select :b as bucket, :x as x, sum(:w)::bigint as copies from t"
            " where :m and :x is not null",
            {"t": self.part.rows},
            b=col(self.part.bucket, "t"),
            x=as_numeric(column, value) if column.is_number else value,
            w=self.weight,
            m=self.matching,
        )
        tree = tree.select(*self.key_columns)
        places = [1, 2, *range(4, 4 + len(self.keys))]
        tree = tree.group_by(*[num(place) for place in places])
        within = [col(name, "r") for name in ("bucket", *self.key_names)]
        window = exp.Window(
            this=fragment("sum(r.copies)"),
            partition_by=within,
            order=exp.Order(expressions=[exp.Ordered(this=col("x", "r"), nulls_first=False)]),
        )
        return query("select r.*, :upto::bigint as upto from r", {"r": tree}, upto=window)

    @property
    def key_columns(self) -> list[exp.Expr]:
        return [
            named(over(key, self.value), name)
            for name, key in zip(self.key_names, self.keys.values(), strict=True)
        ]

    @property
    def matching(self) -> exp.Expr:
        return holds(self.condition, self.value)

    @property
    def weight(self) -> exp.Expr:
        return col(self.part.weight, "t") if self.part.weight else num(1)


def same_group(keys: Sequence[str], left: str, right: str) -> exp.Expr:
    """Whether rows of two relations are of the same bucket and the same group."""
    found = [exp.EQ(this=col("bucket", left), expression=col("bucket", right))]
    found += [exp.NullSafeEQ(this=col(name, left), expression=col(name, right)) for name in keys]
    return exp.and_(*found)
