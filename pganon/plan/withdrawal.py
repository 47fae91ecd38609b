"""Versions that show fewer groups than the one before, and none that is new.

Nothing is encoded or grouped: such a version has the list of groups that are shown no longer, and
members without anybody, so that it enters the history of its people as every version does.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

from sqlglot import exp

from pganon.forms.form import PublishedForm, Staging
from pganon.forms.group_data import staging_steps
from pganon.forms.links import Linked
from pganon.forms.stored_relations import stored
from pganon.methods.common.form.members import members_step
from pganon.methods.related import with_period
from pganon.plan.build import Phase, Plan
from pganon.plan.verification import fingerprint_check, verification_checks
from pganon.policy.options import CLASS_ID
from pganon.privacy.quasi_sensitive import QSKAnonymity
from pganon.resolved.increments import Growth, all_checks
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import fragment, named
from pganon.steps import Parallel
from pganon.steps.relations import PRIVATE_SCHEMA


@dataclass(frozen=True)
class Withdrawal(Plan):
    """The plan of a run that withdraws groups and adds none.

    Attributes:
        declared: the release as its policy declares it.
    """

    declared: ReleaseSpec = field(kw_only=True)

    @property
    def whole_spec(self) -> ReleaseSpec:
        return self.declared

    @cached_property
    def computing(self) -> tuple[Phase, ...]:
        spec, method = self.spec, self.method
        checks = (fingerprint_check(spec, method), *verification_checks(spec, method))
        return (
            Phase(
                "recode", "the list of withdrawn groups, staged", staging_steps(spec, method.form)
            ),
            Phase(
                "verify",
                "re-measure the stored relations against every requirement",
                (Parallel("checks", "what must hold", [[check] for check in checks]),),
            ),
        )

    @cached_property
    def describing(self) -> tuple[Phase, ...]:
        return (self.whole,)


def withdrawal(plan: Plan) -> Withdrawal:
    """The same plan for a version with nothing new."""
    growth = plan.spec.growth
    assert growth is not None
    assert growth.number is not None
    method = replace(plan.method, form=_form(plan.method.form, growth, growth.number))
    declared = replace(plan.spec, growth=replace(growth, adds=False))
    kept = tuple(
        requirement
        for requirement in declared.requirements
        if not (isinstance(requirement.model, QSKAnonymity) and requirement.model.counts_supported)
    )
    spec = replace(declared, requirements=kept)
    return Withdrawal(spec, method, plan.republication, plan.request, declared=declared)


def closing(plan: Plan) -> Withdrawal:
    """The same plan for a version with a period more, of the groups that there are."""
    growth = plan.spec.growth
    assert growth is not None
    form = with_period(_form(plan.method.form, growth, CLASS_ID))
    spec = replace(plan.spec, growth=replace(growth, adds=False, closes=True))
    method = replace(plan.method, form=form)
    return Withdrawal(spec, method, plan.republication, plan.request, declared=spec)


def _form(form: PublishedForm, growth: Growth, number: str) -> PublishedForm:
    """The form of a version that has nobody of its own."""
    nobody = exp.select(
        named(fragment("null::uuid"), "member"),
        named(fragment("null::integer"), number),
        named(fragment("null::bigint[]"), "marks"),
    ).where(exp.false())
    assert form.linkage is not None
    return replace(
        form,
        staging=Staging(
            lambda spec, state: stored(state, [("members", PRIVATE_SCHEMA)]),
            lambda spec: (members_step("group", lambda s: nobody.copy()),),
        ),
        verification=replace(
            form.verification, checks=lambda spec, state, tables: all_checks(growth.increments)
        ),
        publication=replace(
            form.publication,
            views=lambda spec, state, tables: growth.views,
            settled=lambda spec: True,
        ),
        linkage=replace(form.linkage, linked=lambda spec, state, tables: Linked((number,), ())),
    )
