"""Conditions that are in several alternatives: what a bucket allows of them together.

The conditions on one part that are true of a record are its *signature*, a number with a bit for
each. Signatures of different parts are independent. A record matches if its own make the formula
true.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from pganon.estimation import formulas
from pganon.estimation.boxed import BUCKETS, BoxedPart
from pganon.estimation.exactly import ExactPart
from pganon.estimation.question import Formula, Joined, Leaf
from pganon.estimation.release import Part
from pganon.forms.matched import Matched, call
from pganon.sqltools import cast, col, fragment, named, num, query, total

AnyPart = BoxedPart | ExactPart

MOST_TRIED = (2, 4)
"""Numbers of conditions on two parts up to which all sets of signatures are tried for bounds."""


def signature(leaves: Sequence[Leaf]) -> exp.Expr:
    """The signature of conditions on one part, as an expression over its columns."""
    bits = [
        fragment(f"case when :c then {1 << place} else 0 end", c=exp.paren(leaf.condition.copy()))
        for place, leaf in enumerate(leaves)
    ]
    return cast(exp.paren(total(bits)), "integer")


@dataclass(frozen=True)
class Tangle:
    """A formula with several conditions on one part.

    Attributes:
        parts: each with its signature as its only key.
        leaves: conditions of every part, in the order of their bits.
    """

    number: int
    formula: Formula
    parts: Mapping[Part, AnyPart]
    leaves: Mapping[Part, tuple[Leaf, ...]]

    def name(self, what: str) -> str:
        return f"{what}_{self.number}"

    def matched(self, table: str) -> Matched:
        return Matched(*[col(self.name(f"{x}_t"), table) for x in ("lo", "hi", "p", "p2")])

    def relations(self) -> dict[str, exp.Select]:
        """The common table expressions, by name, in order; the last is (bucket, lo, hi, p, p2)."""
        found: dict[str, exp.Select] = {}
        for part in self.parts.values():
            if isinstance(part, BoxedPart):
                found |= part.relations()
            else:
                found[part.name("exact")] = part.grouped()
            found[part.name("signs")] = _signs(part)
            found[part.name("sides")] = self._sides(part)
        found[self.name("tuples")] = self._tuples()
        found[self.name("pairs")] = self._pairs()
        found[self.name("tangle")] = self._whole()
        return found

    # -- probabilities ------------------------------------------------------------------------

    def _tuples(self) -> exp.Select:
        """(bucket, n, share, and id, m, f, r, extent of every part) that make the formula true."""
        parts = [part.number for part in self.parts.values()]
        first, *others = parts
        share = " * ".join(f"s{i}.m / s{i}.n" for i in parts)
        columns = "".join(
            f", s{i}.{name} as {name}{i}" for i in parts for name in ("id", "m", "f", "r", "extent")
        )
        joins = "".join(f" join signs{i} as s{i} on s{i}.bucket = s{first}.bucket" for i in others)
        return query(
            f"select s{first}.bucket, s{first}.n, {share} as share{columns}"
            f" from signs{first} as s{first}{joins} where :true",
            true=self._truth(self.formula),
        )

    def _truth(self, formula: Formula) -> exp.Expr:
        if isinstance(formula, Leaf):
            bit = 1 << self.leaves[formula.part].index(formula)
            signs = col("id", f"s{self.parts[formula.part].number}")
            return fragment(f":id & {bit} <> 0", id=signs)
        assert isinstance(formula, Joined)
        items = [exp.paren(self._truth(item)) for item in formula.items]
        return exp.and_(*items) if formula.every else exp.or_(*items)

    def _pairs(self) -> exp.Select:
        """(bucket, pair): the probability that two given records match."""
        one = " * ".join(_PAIR.replace("@", str(part.number)) for part in self.parts.values())
        tuples = self.name("tuples")
        return query(
            f"select a.bucket, sum({one}) as pair from {tuples} as a"
            f" join {tuples} as b on b.bucket = a.bucket where a.n > 1 group by a.bucket"
        )

    def _whole(self) -> exp.Select:
        """(bucket, lo, hi, p, p2) of every bucket."""
        n = col("n", "b")
        fewest, most = self._bounds(n)
        joins = "".join(
            f" join sides{i} as h{i} on h{i}.bucket = b.bucket"
            for i in [part.number for part in self.parts.values()]
        )
        tree = query(
            "select b.bucket, least(1, coalesce(p.share, 0)) as p, coalesce(q.pair, 0) as p2"
            f" from {BUCKETS} as b{joins} left join p on p.bucket = b.bucket"
            f" left join {self.name('pairs')} as q on q.bucket = b.bucket",
            {
                "p": query(
                    f"select t.bucket, sum(t.share) as share from {self.name('tuples')} as t"
                    " group by t.bucket"
                )
            },
        )
        return tree.select(
            named(cast(exp.paren(fewest), "bigint"), "lo"),
            named(cast(exp.paren(most), "bigint"), "hi"),
        )

    # -- bounds -------------------------------------------------------------------------------

    def _sides(self, part: AnyPart) -> exp.Select:
        """(bucket, lo and hi of every condition, c of every signature) of one part."""
        leaves = next(self.leaves[key] for key, own in self.parts.items() if own == part)
        found: list[exp.Expr] = []
        for place in range(len(leaves)):
            has = f"filter (where s.id & {1 << place} <> 0)"
            if isinstance(part, ExactPart):
                some = fragment(f"coalesce(sum(s.m) {has}, 0)::bigint")
                ends = (some, some.copy())
            else:
                q, e = (f"coalesce(sum(s.{x}) {has}, 0)::bigint" for x in ("q", "e"))
                given = {"n": "min(s.n)", "size": "min(s.size)", "matching": q, "certain": e}
                given["attained"] = "min(s.s)"
                known = {name: fragment(text) for name, text in given.items()}
                ends = (
                    call(
                        "box_lower", **{x: known[x] for x in ("n", "size", "matching", "certain")}
                    ),
                    call(
                        "box_upper",
                        **{x: known[x] for x in ("n", "matching", "attained", "certain")},
                    ),
                )
            found += [named(end, f"{x}{place}") for end, x in zip(ends, ("lo", "hi"), strict=True)]
        if self._tries:
            for sign in range(1 << len(leaves)):
                some = fragment(f"coalesce(sum(s.m) filter (where s.id = {sign}), 0)::bigint")
                found.append(named(some, f"c{sign}"))
        tree = query(f"select s.bucket from signs{part.number} as s group by s.bucket")
        return tree.select(*found)

    @property
    def _tries(self) -> bool:
        """Whether bounds are those of two parts of which all rows are published."""
        sizes = sorted(len(leaves) for leaves in self.leaves.values())
        exact = all(isinstance(part, ExactPart) for part in self.parts.values())
        return exact and len(sizes) == 2 and sizes[0] <= MOST_TRIED[0] and sizes[1] <= MOST_TRIED[1]

    def _bounds(self, n: exp.Expr) -> tuple[exp.Expr, exp.Expr]:
        if self._tries:
            most, least = (self._cut(wanted) for wanted in (True, False))
            return fragment(":n - :m", n=n.copy(), m=least), most

        def ends(leaf: Leaf) -> Matched:
            place = self.leaves[leaf.part].index(leaf)
            side = f"h{self.parts[leaf.part].number}"
            return Matched(col(f"lo{place}", side), col(f"hi{place}", side), exp.null(), exp.null())

        found = formulas.matched(n, self.formula, ends)
        return found.fewest, found.most

    def _cut(self, wanted: bool) -> exp.Expr:
        """The most records of which the formula is `wanted`, by the least cut between two parts.

        Records of the one that go with any of a set of signatures have as many of the other; those
        with other signatures are no more than there are.
        """
        few, many = sorted(self.leaves, key=lambda part: len(self.leaves[part]))
        ours, theirs = (range(1 << len(self.leaves[part])) for part in (few, many))
        goes = {
            one: {other for other in theirs if self._true({few: one, many: other}) is wanted}
            for one in ours
        }
        cuts: list[exp.Expr] = []
        for chosen in itertools.product((True, False), repeat=len(ours)):
            inside = [one for one, inner in zip(ours, chosen, strict=True) if inner]
            reached = sorted(set[int]().union(*[goes[one] for one in inside]))
            terms = [
                col(f"c{one}", f"h{self.parts[few].number}") for one in ours if one not in inside
            ]
            terms += [col(f"c{other}", f"h{self.parts[many].number}") for other in reached]
            cuts.append(total(terms) if terms else num(0))
        return exp.func("least", *cuts)

    def _true(self, signs: Mapping[Part, int], formula: Formula | None = None) -> bool:
        formula = formula or self.formula
        if isinstance(formula, Leaf):
            return bool(signs[formula.part] >> self.leaves[formula.part].index(formula) & 1)
        assert isinstance(formula, Joined)
        judged: Callable[[Sequence[bool]], bool] = all if formula.every else any
        return judged([self._true(signs, item) for item in formula.items])


_PAIR = (
    "(a.m@ * b.m@"
    " + a.r@ * ((a.id@ = b.id@)::integer * a.f@ - a.f@ * b.f@)"
    " * (1 + a.r@ / a.extent@) / (1 + 1 / a.extent@)"
    " - (a.id@ = b.id@)::integer * a.m@) / (a.n::float8 * (a.n - 1))"
)
"""That of two given records the first has one signature of a part, the second another.

The numbers of records with these have the covariance of Dirichlet-multinomial counts.
"""


def _signs(part: AnyPart) -> exp.Select:
    """(bucket, n, id, m, f, r, extent, ...): signatures of a part in every bucket.

    `m` is the expected number of records with a signature, `f` its share of the `r` records that
    need not have attained values.
    """
    (key,) = part.key_names
    if isinstance(part, ExactPart):
        return query(
            f"select g.bucket, b.n, g.{key} as id, {part.name('g.a')}::float8 as m, 0::float8 as f,"
            f" 0::float8 as r, 1::float8 as extent from {part.name('exact')} as g"
            f" join {BUCKETS} as b on b.bucket = g.bucket"
        )
    return part.query(
        f"select b.bucket, b.n, t.{key} as id, t.e + (b.n - t.s) * t.f as m, t.f,"
        " (b.n - t.s)::float8 as r, t.extent, t.q, t.e, t.size, t.s"
        f" from {BUCKETS} as b join stats@ as t on t.box = b.b@"
    )
