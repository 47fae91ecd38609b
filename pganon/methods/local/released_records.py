"""The released records, with the values that they show.

Where every display has enough records and none is merged with another one, these are all encoded
records, and are not copied.
"""

from __future__ import annotations

from sqlglot import exp

from pganon.encode.records import HIDES, NUMBER, tells_hidden
from pganon.encode.work import CODED
from pganon.forms.work import DISPLAYS, shown_beside
from pganon.methods.local.context import Context
from pganon.methods.local.form.facts import SUBSETS
from pganon.methods.local.form.layout import in_bucket, is_generalized
from pganon.privacy.rows import Relation
from pganon.sqltools import chain, col, fragment, named, query
from pganon.steps import CreateTable, State, table

_PLACED = "placed"


def placed(context: Context, state: State) -> Relation:
    """(rid, display, codes, s<j>, beside) of the released records."""
    return _as_they_are(context, state) if as_encoded(context, state) else state.work(_PLACED)


def placed_step(context: Context) -> CreateTable:
    """The step that creates the work table `placed`, where there is one."""
    return table(
        _PLACED,
        "the records that are released, with what they show",
        lambda s: _placed(context, s),
        when=lambda s: not as_encoded(context, s),
    )


def mask(context: Context, table: str) -> exp.Expr:
    """A letter per column that people may hide."""
    letters = [
        fragment("case when :f then 'b' else 'g' end", f=col(hidden.flag, table))
        for hidden in context.spec.hidden
    ]
    return chain(exp.DPipe, letters) if letters else fragment("''::text")


def as_encoded(context: Context, state: State) -> bool:
    """Whether they are all encoded records: every possible mask is a display."""
    subsets, small, _ = (state[fact] for fact in SUBSETS)
    every = 1 << len(context.spec.hidden)
    return tells_hidden(context.spec) and subsets == every and not small


def _as_they_are(context: Context, state: State) -> exp.Select:
    """SELECT of the encoded records, in which the codes that must be 0 are 0 already."""
    names = [*context.codes, *[f"s{item.index}" for item in context.spec.sensitive]]
    tree = query("select 1 from c", {"c": state.work(CODED)}).select(
        col(NUMBER, "c"), named(col(HIDES, "c"), "display"), append=False
    )
    return tree.select(*[col(name, "c") for name in (*names, *shown_beside(context.spec))])


def _placed(context: Context, state: State) -> exp.Select:
    form = col("form", "d")
    tree = query(
        "select c.rid, d.display from c join d on d.mask = :mask",
        {"c": state.work(CODED), "d": state.work(DISPLAYS)},
        mask=mask(context, "c"),
    )
    for axis in context.axes:
        code = col(axis.code, "c")
        tree = tree.select(named(_where(is_generalized(axis.attribute, form), code), axis.code))
    for item in context.spec.sensitive:
        value = col(f"s{item.index}", "c")
        tree = tree.select(named(_where(in_bucket(item, form), value), f"s{item.index}"))
    return tree.select(*[col(name, "c") for name in shown_beside(context.spec)])


def _where(condition: exp.Expr, value: exp.Expr) -> exp.Expr:
    """The code where the condition is true, else 0."""
    if isinstance(condition, exp.Boolean):
        return value
    return fragment("case when :condition then :v else 0 end", condition=condition, v=value)
