"""Records of the source that match a query, and the matching share of every released row."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from pganon.encode.axis import Axis, axes
from pganon.methods.local.metrics.relations import HIDDEN, SHOWN, WITHHELD, hiding
from pganon.metrics.boxes import of_attribute
from pganon.metrics.draws import holds
from pganon.metrics.source import on_line
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import cast, col, computed_once, fragment, named, num, query, stacked, text
from pganon.steps import State, Step, table

KINDS = ("source", "shown")


def steps(spec: ReleaseSpec, places: int) -> list[Step]:
    """From `mwhere` to `mmatch` and `mreach`, for the source and the release."""
    chain: list[Step] = []
    for kind in KINDS:
        chain += [
            table(
                f"workload_match_{kind}",
                "values that match" if kind == "source" else "shares of what is shown that match",
                lambda s, kind=kind: _matches(spec, places, kind, s),
                into=f"mmatch{kind}",
            ),
            *[
                table(
                    f"workload_reach_{kind}{place}",
                    f"records that match up to predicate {place + 1} ({kind})",
                    lambda s, kind=kind, place=place: _reached(kind, place, s),
                    into=reach(kind, place + 1),
                )
                for place in range(places)
            ],
        ]
    return chain


def reach(kind: str, places: int) -> str:
    """Work table (query, row, n) after so many predicates."""
    return f"mreach{kind}{places}"


def _reached(kind: str, place: int, state: State) -> exp.Expr:
    matches = query(
        "select m.* from m where m.place = :place",
        {"m": state.work(f"mmatch{kind}")},
        place=num(place),
    )
    where = state.work(f"mwhere{kind}")
    if place == 0:
        return query(
            "select m.query, w.row, m.n from w join m on m.attribute = w.attribute"
            " and m.form = w.form and m.number = w.number",
            {"m": matches, "w": where},
        )
    # Locations are joined to rows first: joined only by query there would be too many pairs.
    probes = computed_once(
        query(
            "select r.query, r.row, r.n, w.attribute, w.form, w.number from r"
            " join q on q.query = r.query join w on w.row = r.row and w.attribute = :asked",
            {"r": state.work(reach(kind, place)), "q": state.work("mqueries"), "w": where},
            asked=col(f"a{place}", "q"),
        )
    )
    return query(
        "select x.query, x.row, x.n * m.n as n from x join m on m.query = x.query"
        " and m.attribute = x.attribute and m.form = x.form and m.number = x.number",
        {"x": probes, "m": matches},
    )


# -- matches ------------------------------------------------------------------------------------


def _matches(spec: ReleaseSpec, places: int, kind: str, state: State) -> exp.Expr:
    of = _of_source if kind == "source" else _of_release
    trees = [
        tree
        for axis in axes(spec.attributes)
        for place in range(places)
        for tree in of(spec, axis, place, state)
    ]
    return stacked(trees)


def _asking(axis: Axis, place: int, state: State) -> exp.Select:
    return query(
        "select q.* from q where :asked = :i",
        {"q": state.work("mqueries")},
        asked=col(f"a{place}", "q"),
        i=num(axis.index),
    )


def _match(
    tree: exp.Select, axis: Axis, place: int, form: str, number: exp.Expr, n: exp.Expr
) -> exp.Select:
    return tree.select(
        named(num(place), "place"),
        named(num(axis.index), "attribute"),
        named(text(form), "form"),
        named(cast(number, "bigint"), "number"),
        named(cast(n, "float8"), "n"),
    )


def _of_source(spec: ReleaseSpec, axis: Axis, place: int, state: State) -> Sequence[exp.Select]:
    asking = _asking(axis, place, state)
    shown = query(
        "select q.query from q join d on d.code > 0 and :holds",
        {"q": asking, "d": axis.dictionary(state)},
        holds=holds(str(place), col("code", "d")),
    )
    trees = [_match(shown, axis, place, SHOWN, col("code", "d"), num(1))]
    if hiding(spec, axis.attribute) is not None:
        hidden = query(
            "select q.query from q join h on :holds",
            {"q": asking, "h": state.work(f"mplaced{axis.index}")},
            holds=_between(axis, place),
        )
        trees.append(_match(hidden, axis, place, HIDDEN, col("code", "h"), num(1)))
    return trees


def _between(axis: Axis, place: int) -> exp.Expr:
    """Condition: the hidden value `h` matches; on a line it may lie between shown values."""
    if not on_line(axis):
        return holds(str(place), col("below", "h"))
    return fragment(
        "h.below >= :first and h.above <= :last",
        first=col(f"first{place}", "q"),
        last=col(f"last{place}", "q"),
    )


def _of_release(spec: ReleaseSpec, axis: Axis, place: int, state: State) -> Sequence[exp.Select]:
    shares = query("select b.query from b where b.n > 0", {"b": of_attribute(axis, place, state)})
    trees = [_match(shares, axis, place, SHOWN, col("group_id", "b"), col("n", "b"))]
    item = hiding(spec, axis.attribute)
    if item is None:
        return trees
    asking = _asking(axis, place, state)
    held = query(
        "select q.query, v.bucket, sum(v.n) / v.size as n from q join h on :holds"
        " join v on v.code = h.code group by q.query, v.bucket, v.size",
        {
            "q": asking,
            "h": state.work(f"mplaced{axis.index}"),
            "v": state.work(f"mvalues{item.index}"),
        },
        holds=_between(axis, place),
    )
    buckets = query("select x.query from x", {"x": held})
    trees.append(_match(buckets, axis, place, HIDDEN, col("bucket", "x"), col("n", "x")))
    if axis.size(state):
        anything = query("select q.query from q", {"q": asking})
        trees.append(_match(anything, axis, place, WITHHELD, num(0), _of_all(axis, place, state)))
    return trees


def _of_all(axis: Axis, place: int, state: State) -> exp.Expr:
    """Matching share of the values that any record shows."""
    size = num(axis.size(state))
    if not on_line(axis):
        return fragment("bit_count(:bits)::float8 / :m", bits=col(f"bits{place}", "q"), m=size)
    return fragment(
        "(:last - :first + 1)::float8 / :m",
        first=col(f"first{place}", "q"),
        last=col(f"last{place}", "q"),
        m=size,
    )
