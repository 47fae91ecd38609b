"""The layout of a release: how records show their values.

A form is a text with a letter per semi-sensitive column: g for a value that is generalized, b for
one that is in a bucket, w for one that is withheld.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from pganon.encode.axis import Axis
from pganon.forms.work import DISPLAYS
from pganon.methods.local.form import facts
from pganon.methods.local.form.axes import shown_axes
from pganon.methods.local.search.subsets import BUCKET, GENERALIZED, WITHHELD
from pganon.privacy.base import Model
from pganon.privacy.frequency import KAnonymity, LocalBucketDiversity
from pganon.privacy.likeness import TCloseness
from pganon.resolved.model import Attribute, Hidden, ReleaseSpec, Sensitive
from pganon.sqltools import fragment, num, query, text
from pganon.steps import State

Principle = LocalBucketDiversity | TCloseness


@dataclass(frozen=True)
class Layout:
    """A release specification, read with the options of its method."""

    spec: ReleaseSpec

    @property
    def axes(self) -> tuple[Axis, ...]:
        return shown_axes(self.spec.attributes)

    @property
    def k(self) -> int:
        """Fewest records of a group."""
        models = [r.model for r in self.spec.requirements]
        return max((m.k for m in models if isinstance(m, KAnonymity)), default=1)

    @property
    def withholds(self) -> bool:
        """Whether values of a column that cannot be in buckets are withheld."""
        return getattr(self.spec.policy.method, "withholds", False)

    @property
    def aligned(self) -> bool:
        """Whether columns may have buckets in common, in which values may repeat."""
        return getattr(self.spec.policy.method, "aligned", False)

    def withheld(self, item: Sensitive, state: State) -> bool:
        """Whether all values of the column are withheld."""
        return self.withholds and state[facts.withheld(item.index)]

    @property
    def single(self) -> bool:
        """Whether every bucket has one hidden value, because the method only makes groups."""
        return LocalBucketDiversity.name not in self.spec.policy.method.models

    def principle(self, item: Sensitive) -> Principle:
        """The requirement on the buckets of a column."""
        for requirement in self.spec.requirements:
            model: Model = requirement.model
            if requirement.sensitive == item.index and isinstance(model, Principle):
                return model
        raise AssertionError("every hidden column has a principle")

    def least(self, item: Sensitive) -> int:
        """Fewest cells of a bucket."""
        model = self.principle(item)
        if isinstance(model, LocalBucketDiversity):
            return model.l
        return model.min_size or self.k

    def hiding(self, attribute: Attribute) -> Sensitive | None:
        """The sensitive column with the values of an attribute that some records hide."""
        if attribute.hidden is None:
            return None
        return next(item for item in self.spec.sensitive if item.hidden == attribute.hidden)

    def has_form(self, item: Sensitive) -> bool:
        """Whether records may show the column in different forms, by the policy."""
        return item.hidden is not None or self.withholds


def forms(state: State) -> exp.Select:
    """SELECT (display, form): the form of the records of each display."""
    return query("select distinct d.display, d.form from d", {"d": state.work(DISPLAYS)})


def letter(hidden: Hidden, form: exp.Expr) -> exp.Expr:
    """The letter of a semi-sensitive column in a form."""
    return fragment("substr(:form, :place, 1)", form=form, place=num(hidden.index + 1))


def is_generalized(attribute: Attribute, form: exp.Expr) -> exp.Expr:
    """Condition: records of this form show a value of the column."""
    if attribute.hidden is None:
        return exp.true()
    return exp.EQ(this=letter(attribute.hidden, form), expression=text(GENERALIZED))


def in_bucket(item: Sensitive, form: exp.Expr) -> exp.Expr:
    """Condition: records of this form have their value of the column in a bucket."""
    if item.hidden is None:
        return exp.true()
    return exp.EQ(this=letter(item.hidden, form), expression=text(BUCKET))


def shown_letter(layout: Layout, item: Sensitive, form: exp.Expr, state: State) -> exp.Expr:
    """The published letter of the form of a column."""
    withheld = layout.withheld(item, state)
    if item.hidden is None:
        return text(WITHHELD if withheld else BUCKET)
    shown = letter(item.hidden, form)
    if not withheld:
        return shown
    return fragment(
        "case when :shown = :g then :shown else :w end",
        shown=shown,
        g=text(GENERALIZED),
        w=text(WITHHELD),
    )
