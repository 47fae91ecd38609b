"""Generalized values: what a class shows for its codes.

Every published value but means and modes contains the source values of all records of its class:

- numbers: closed numrange; dates and timestamps: half-open ranges of their own type;
- nominal values: sorted array of the values that occur in the class;
- ordinal values: sorted array of all released values between the lowest and the highest of the
  class;
- trees: label (or range) of the lowest common ancestor; the range of the top ends where those of
  released values do.

- means and modes: numbers, dates and timestamps show the mean of the values that are there, rounded
  as the column is; other columns the most frequent value, the first one on a tie, NULL before all.

Values that only suppressed records have show nowhere. NULL is never a range: it shows in
`<column>_null`, or as a NULL where it is never mixed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlglot import exp

from pganon.encode.axis import Axis, NominalAxis, OrderedAxis, TreeAxis, axes
from pganon.encode.extents import group_extents
from pganon.encode.number_line import bounds
from pganon.forms.elements import element
from pganon.forms.work import EXTENTS, GROUPED_CLASSES
from pganon.identifiers import QualifiedName
from pganon.methods.common.form.members import code_columns
from pganon.policy.options import CLASS_ID
from pganon.privacy.rows import Relation
from pganon.resolved.model import Attribute, ReleaseSpec, Shown
from pganon.sqltools import aliased, cast, col, equal, fragment, named, num, query, scalar
from pganon.steps import CreateTable, State, Step, table

# -- means and modes -------------------------------------------------------------------------------


_SECONDS = "extract(epoch from :v)"
_MEANS = {
    "date": "date '2000-01-01' + round(avg(:v - date '2000-01-01'))::integer",
    "timestamp": f"timestamp 'epoch' + avg({_SECONDS}) * interval '1 second'",
    "timestamptz": f"to_timestamp(avg({_SECONDS})::float8)",
}


def centre_step(axis: Axis) -> CreateTable:
    return CreateTable(
        f"centres{axis.index}",
        f"centres of the classes in attribute {axis.index + 1}",
        lambda s: centres(axis, s),
        lambda s: _mean(axis, s) if axis.attribute.form is Shown.MEAN else _mode(axis, s),
        inline=True,
    )


def centres(axis: Axis, state: State) -> QualifiedName:
    """Work table (class_id, has_null, value)."""
    return state.work(f"centres{axis.index}")


def _members(axis: Axis, state: State) -> exp.Select:
    """SELECT class_id, code, value: a row per record; NULL has no value."""
    return query(
        "select g.class_id, :code as code, d.value from g left join d on d.code = :code"
        " and :code > 0",
        {"g": state.work(GROUPED_CLASSES), "d": axis.dictionary(state)},
        code=col(axis.code, "g"),
    )


def _mean(axis: Axis, state: State) -> exp.Expr:
    value = col("value", "m")
    mean = fragment(_MEANS.get(axis.attribute.column.kind, "avg(:v::numeric)"), v=value)
    return query(
        "select m.class_id, bool_or(m.code = 0) as has_null, :mean as value from m"
        " group by m.class_id",
        {"m": _members(axis, state)},
        mean=cast(exp.paren(_rounded(axis, mean, state)), axis.attribute.published_type),
    )


def _rounded(axis: Axis, mean: exp.Expr, state: State) -> exp.Expr:
    """Numbers have as many decimals as the source shows at most."""
    if axis.attribute.column.kind != "numeric":
        return mean
    most = query(
        "select coalesce(max(scale(d.value::numeric)), 0) from d where d.code > 0",
        {"d": axis.dictionary(state)},
    )
    return fragment("round(:mean, (:most))", mean=mean, most=scalar(most))


def _mode(axis: Axis, state: State) -> exp.Expr:
    counted = query(
        "select m.class_id, m.code, m.value, count(*) as n from m"
        " group by m.class_id, m.code, m.value",
        {"m": _members(axis, state)},
    )
    first = query(
        "select distinct on (c.class_id) c.class_id,"
        " bool_or(c.code = 0) over (partition by c.class_id) as has_null, c.value from c"
        " order by c.class_id, c.n desc, c.code",
        {"c": counted},
    )
    return query(
        "select f.class_id, f.has_null, :value as value from f",
        {"f": first},
        value=element(axis.attribute, col("value", "f")),
    )


# The day and the microsecond after the last ones do not exist, so the range has no upper end.
LAST = {
    "date": "date '5874897-12-31'",
    "timestamp": "timestamp '294276-12-31 23:59:59.999999'",
    "timestamptz": "timestamptz '294276-12-31 23:59:59.999999+00'",
}
_RANGES = {
    "date": "case when :hi = :last then daterange(:lo, null) else daterange(:lo, :hi, '[]') end",
    "timestamp": "case when :hi = :last then tsrange(:lo, null)"
    " else tsrange(:lo, :hi + interval '1 microsecond') end",
    "timestamptz": "case when :hi = :last then tstzrange(:lo, null)"
    " else tstzrange(:lo, :hi + interval '1 microsecond') end",
}


@dataclass(frozen=True)
class Recoded:
    """How one attribute is published: joins to the class table `e`, and the expressions."""

    joins: tuple[exp.Join, ...]
    columns: tuple[exp.Expr, ...]


def preparation_steps(axes: tuple[Axis, ...]) -> list[Step]:
    """Work tables that the recoding joins: released values, arrays per distinct set of codes.

    They are made from :data:`EXTENTS` and the work table `grouped_classes` (class_id, codes).
    """
    steps: list[Step] = []
    for axis in axes:
        if _shows_between(axis):
            steps.append(
                CreateTable(
                    f"released{axis.index}",
                    f"released values of attribute {axis.index + 1}",
                    lambda s, axis=axis: _released(axis, s),
                    lambda s, axis=axis: query(
                        "select d.code, d.value from d"
                        " where d.code > 0 and d.code in (select :code from g)",
                        {"d": axis.dictionary(s), "g": s.work(GROUPED_CLASSES)},
                        code=col(axis.code, "g"),
                    ),
                    inline=True,
                )
            )
        if axis.attribute.form in (Shown.MEAN, Shown.MODE):
            steps.append(centre_step(axis))
        if axis.attribute.form is Shown.SET:
            steps.append(
                table(
                    f"sets{axis.index}",
                    f"arrays of values for attribute {axis.index + 1}",
                    lambda s, axis=axis: _sets(axis, s),
                    inline=True,
                )
            )
    return steps


def _shows_between(axis: Axis) -> bool:
    """Whether a class may show values or bounds that none of its own records has."""
    if isinstance(axis, TreeAxis):
        return axis.attribute.form is Shown.RANGE
    return isinstance(axis, OrderedAxis) and axis.attribute.form is Shown.SET


def _released(axis: Axis, state: State) -> QualifiedName:
    """Work table (code, value): values of the attribute that records of classes have."""
    return state.work(f"released{axis.index}")


def generalized(axes: tuple[Axis, ...], state: State) -> exp.Select:
    """SELECT class_id and the published columns of every class, after :func:`preparation_steps`."""
    tree = query("select e.class_id from e", {"e": state.work(EXTENTS)})
    for axis in axes:
        part = recoded(axis, state)
        tree.select(*part.columns, copy=False)
        for join in part.joins:
            tree.append("joins", join)
    return tree


def recoded(axis: Axis, state: State) -> Recoded:
    """The published column of an attribute, and its `<column>_null` where it has one."""
    if axis.attribute.form in (Shown.MEAN, Shown.MODE):
        joins, value = _centre(axis, state)
    elif isinstance(axis, TreeAxis):
        joins, value = _tree(axis, state)
    elif axis.attribute.form is Shown.SET:
        joins, value = _set(axis, state)
    else:
        joins, value = _range(axis, state)
    attribute = axis.attribute
    columns = [named(cast(exp.paren(value), attribute.published_type), attribute.published)]
    if attribute.null_column is not None:
        columns.append(named(_has_null(axis, state), attribute.null_column))
    return Recoded(tuple(joins), tuple(columns))


def _has_null(axis: Axis, state: State) -> exp.Expr:
    if not axis.has_null(state):
        return fragment("false")
    if axis.attribute.form in (Shown.MEAN, Shown.MODE):
        return col("has_null", f"x{axis.index}")
    if isinstance(axis, NominalAxis):
        if axis.words(state):
            return fragment(":b & 1 = 1", b=col(f"b{axis.index}_0", "e"))
        return fragment("coalesce(:n, false)", n=col("has_null", f"x{axis.index}"))
    return col(f"n{axis.index}", "e")


def _dictionary_join(axis: Axis, state: State, alias: str, bound: str) -> exp.Join:
    on = exp.EQ(this=col("code", alias), expression=col(f"{bound}{axis.index}", "e"))
    table = aliased(axis.dictionary(state), alias)
    return exp.Join(this=table, on=on, side="LEFT")


def _range(axis: Axis, state: State) -> tuple[list[exp.Join], exp.Expr]:
    lo, hi = f"l{axis.index}", f"h{axis.index}"
    joins = [_dictionary_join(axis, state, lo, "lo"), _dictionary_join(axis, state, hi, "hi")]
    value = closed(axis.attribute, col("value", lo), col("value", hi))
    empty = fragment(":hi = 0", hi=col(f"hi{axis.index}", "e"))
    return joins, exp.Case().when(empty, exp.null()).else_(value)


def closed(attribute: Attribute, lo: exp.Expr, hi: exp.Expr) -> exp.Expr:
    """The smallest range with both values in it; where one is NULL it has no end."""
    kind = attribute.column.kind
    if kind in _RANGES:
        return fragment(_RANGES[kind], lo=lo, hi=hi, last=fragment(LAST[kind]))
    return fragment(
        "numrange(trim_scale(:lo::numeric), trim_scale(:hi::numeric), '[]')", lo=lo, hi=hi
    )


def _tree(axis: TreeAxis, state: State) -> tuple[list[exp.Join], exp.Expr]:
    alias = f"a{axis.index}"
    lo = col(f"lo{axis.index}", "e")
    on = exp.and_(
        exp.EQ(this=col("code", alias), expression=lo),
        exp.EQ(this=col("level", alias), expression=exp.paren(axis.level(state, "e"))),
    )
    table = aliased(axis.table(state), alias)
    joins = [exp.Join(this=table, on=on, side="LEFT")]
    empty = fragment(":hi = 0", hi=col(f"hi{axis.index}", "e"))
    if axis.attribute.form is Shown.LABEL:
        return joins, exp.Case().when(empty, exp.null()).else_(col("label", alias))
    leaf = f"l{axis.index}"
    joins.append(_dictionary_join(axis, state, leaf, "lo"))
    exact = closed(axis.attribute, col("value", leaf), col("value", leaf))
    maker = axis.attribute.published_type
    top = fragment(":l = :top", l=col("level", alias), top=num(axis.levels(state)))
    value = (
        exp.Case()
        .when(empty, exp.null())
        .when(fragment(":l = 0", l=col("level", alias)), exact)
        .when(top, _highest(axis, state))
        .else_(exp.func(maker, col("lower", alias), col("upper", alias), dialect="postgres"))
    )
    return joins, value


def _highest(axis: TreeAxis, state: State) -> exp.Expr:
    """The range of the top: the declared domain, else what the ranges below are in."""
    attribute = axis.attribute
    if attribute.domain is not None:
        return closed(attribute, *bounds(attribute))
    return exp.func(attribute.published_type, *_span(axis, state), dialect="postgres")


def _span(axis: TreeAxis, state: State) -> list[exp.Expr]:
    """The ends of the ranges just below the top that released values are in."""
    return [
        scalar(
            query(
                "select :end from t join r on r.code = t.code where t.level = :below",
                {"t": axis.table(state), "r": _released(axis, state)},
                end=fragment(end),
                below=num(axis.levels(state) - 1),
            )
        )
        for end in ("min(t.lower)", "max(t.upper)")
    ]


def _centre(axis: Axis, state: State) -> tuple[list[exp.Join], exp.Expr]:
    alias = f"x{axis.index}"
    table = aliased(centres(axis, state), alias)
    join = exp.Join(this=table, on=equal(["class_id"], alias, "e"), side="LEFT")
    return [join], col("value", alias)


def _set(axis: Axis, state: State) -> tuple[list[exp.Join], exp.Expr]:
    alias = f"x{axis.index}"
    keys = _set_keys(axis, state)
    on = exp.and_(*[fragment(":a = :b", a=col(key, alias), b=col(key, "e")) for key in keys])
    table = aliased(state.work(f"sets{axis.index}"), alias)
    return [exp.Join(this=table, on=on, side="LEFT")], col("members", alias)


def _set_keys(axis: Axis, state: State) -> list[str]:
    """Columns of the extents that determine a class's array."""
    i = axis.index
    if isinstance(axis, NominalAxis):
        words = axis.words(state)
        return [f"b{i}_{word}" for word in range(words)] or ["class_id"]
    return [f"lo{i}", f"hi{i}"]


def _sets(axis: Axis, state: State) -> exp.Expr:
    """(keys.., members): the array of every distinct set of codes that occurs."""
    item = element(axis.attribute, col("value", "d"))
    if isinstance(axis, NominalAxis) and not axis.words(state):
        held = query(
            "select distinct g.class_id, :code as code from g",
            {"g": state.work(GROUPED_CLASSES)},
            code=col(axis.code, "g"),
        )
        return query(
            "select k.class_id, bool_or(k.code = 0) as has_null,"
            " array_agg(:item order by d.code) filter (where d.code > 0) as members"
            " from k join d on d.code = k.code group by k.class_id",
            {"k": held, "d": axis.dictionary(state)},
            item=item,
        )
    keys = _set_keys(axis, state)
    distinct = (
        exp.select(*[col(key, "e") for key in keys])
        .distinct()
        .from_(aliased(state.work(EXTENTS), "e"))
    )
    values = _released(axis, state) if _shows_between(axis) else axis.dictionary(state)
    members = query(
        "select array_agg(:item order by d.code) from d where d.code > 0", {"d": values}, item=item
    ).where(_belongs(axis, state))
    return exp.select(*[col(key, "k") for key in keys], named(scalar(members), "members")).from_(
        distinct.subquery("k")
    )


def _belongs(axis: Axis, state: State) -> exp.Expr:
    """Whether dictionary code `d` is in the set described by the keys `k`."""
    i = axis.index
    if isinstance(axis, OrderedAxis):
        return fragment("d.code between :lo and :hi", lo=col(f"lo{i}", "k"), hi=col(f"hi{i}", "k"))
    assert isinstance(axis, NominalAxis)
    case = exp.Case(this=fragment("d.code >> 6"))
    for word in range(axis.words(state)):
        bit = fragment("(:b >> (d.code & 63)) & 1 = 1", b=col(f"b{i}_{word}", "k"))
        case = case.when(num(word), bit)
    return case


GENERALIZED = "generalized"
"""Work table (class_id, published quasi-identifiers): one row per class."""


def classes_step(
    spec: ReleaseSpec, records: Callable[[State], Relation], number: str
) -> CreateTable:
    """Make :data:`GROUPED_CLASSES`.

    Args:
        records: a relation with the codes of all records.
        number: its column with the published number of the class.
    """

    def classes(state: State) -> exp.Expr:
        tree = query("select 1 from r", {"r": records(state)})
        codes = [col(name, "r") for name in code_columns(spec)]
        return tree.select(named(col(number, "r"), CLASS_ID), *codes, append=False)

    return table(GROUPED_CLASSES, "the class of every record", classes)


def generalization_steps(
    spec: ReleaseSpec, sizes: Callable[[State], Relation] | None = None
) -> list[Step]:
    """Make :data:`GENERALIZED` from :data:`GROUPED_CLASSES`.

    Args:
        sizes: where that has not all records, a relation (group_id, n): how many a class has.
    """
    attributes = axes(spec.attributes)

    def extents(state: State) -> exp.Expr:
        tree = group_extents(
            attributes, state, state.work(GROUPED_CLASSES), [CLASS_ID], weighted=False
        )
        if sizes is None:
            return tree.select(named(fragment("count(*)"), "n"))
        sized = {"e": tree, "s": sizes(state)}
        joined = query("select s.n from e join s on s.group_id = e.class_id", sized)
        return joined.select(*[col(name, "e") for name in tree.named_selects])

    return [
        table(EXTENTS, "extent of every class", extents),
        *preparation_steps(attributes),
        table(
            GENERALIZED,
            "generalized quasi-identifiers of every class",
            lambda s: generalized(attributes, s),
        ),
    ]
