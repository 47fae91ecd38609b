"""Classes of records with similar priors, and what their owner keeps to prove it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from pganon.forms.form import OnRequest, Staging, Tables
from pganon.forms.metrics import Grid, Metrics, Shown, figure
from pganon.forms.request import Request
from pganon.methods.background.form import posterior
from pganon.methods.background.form.audit import MESSAGES, bounded, checks, relations, staging_steps
from pganon.methods.background.prior_facts import LOST, NEEDED, more_alike, prior_warnings
from pganon.methods.common.form.class_description import CLASSES, DESCRIPTION
from pganon.metrics import report
from pganon.metrics.answers import finite
from pganon.metrics.report import ClassMetrics, measure_steps
from pganon.privacy.knowledge import BackgroundKnowledge
from pganon.resolved.guarantee import decides_by_values
from pganon.resolved.model import ReleaseSpec
from pganon.steps import State, Step
from pganon.steps.facts import Fact, Facts


@dataclass(frozen=True)
class Conclusion:
    """Posteriors of records in some classes.

    Attributes:
        largest: highest posterior of a value of a record.
        gain: by how much a posterior exceeds the share of the value in the class, at most.
        above: share of the records with a posterior above the largest share that beta-likeness
            allows the value; None without beta-likeness.
        All are None where no class was measured.
    """

    largest: float | None
    gain: float | None
    above: float | None


@dataclass(frozen=True)
class Posterior:
    """Posteriors of a reader who holds the priors and knows who is in which class.

    Attributes:
        believed: share of the released records whose prior alone is above what beta-likeness
            allows; None without it.
        estimate: the Omega-estimate, of all classes.
        exact: over all assignments, of `counted` classes of few records.
        impossible: classes with a value that no member can have, if the priors are right; they
            are in neither.
    """

    believed: float | None
    estimate: Conclusion
    exact: Conclusion
    counted: int
    impossible: int


@dataclass(frozen=True)
class BackgroundMetrics(ClassMetrics):
    """See docs/reference/measures.md; no `posterior` where the policy names no priors."""

    posterior: Posterior | None = None

    def shown(self) -> list[Shown]:
        grids = super().shown()
        return [*grids, _grid(self.posterior)] if self.posterior else grids


def _grid(result: Posterior) -> Grid:
    columns = ["largest", "gain", "above f"]
    rows: list[tuple[str, ...]] = [("prior", "-", "-", figure(result.believed))]
    for name, of in (
        ("estimate", result.estimate),
        (f"exact ({result.counted} classes)", result.exact),
    ):
        rows.append((name, figure(of.largest), figure(of.gain), figure(of.above)))
    title = "posteriors of a reader who holds the priors"
    if result.impossible:
        title += f"; they rule out the values of {result.impossible} classes"
    return Grid(["", *columns], rows, columns, title)


def _steps(
    spec: ReleaseSpec, tables: Callable[[State], Tables], request: Request
) -> tuple[Step, ...]:
    steps = measure_steps(spec, DESCRIPTION, tables, request)
    if not _concludes(spec, request):
        return steps
    return (*steps, *posterior.posterior_steps(spec, tables))


def _concludes(spec: ReleaseSpec, request: Request) -> bool:
    return request.everything and bounded(spec) is not None


def _metrics_of(spec: ReleaseSpec, request: Request, state: State) -> Metrics:
    values = vars(report.metrics_of(spec, request, state))
    if not _concludes(spec, request):
        return BackgroundMetrics(**values)
    return BackgroundMetrics(**values, posterior=_posterior(state))


def _posterior(state: State) -> Posterior:
    def concluded(*facts: Fact[float | None]) -> Conclusion:
        return Conclusion(*[finite(state[fact]) for fact in facts])

    return Posterior(
        believed=finite(state[posterior.BELIEVED]),
        estimate=concluded(posterior.ESTIMATE, posterior.ESTIMATE_GAIN, posterior.ESTIMATE_ABOVE),
        exact=concluded(posterior.EXACT, posterior.EXACT_GAIN, posterior.EXACT_ABOVE),
        counted=state[posterior.COUNTED],
        impossible=state[posterior.IMPOSSIBLE],
    )


ON_REQUEST = OnRequest(steps=_steps, report=_metrics_of, figures=BackgroundMetrics)


_MANY = 100
"""Records of a class above which a value is called rare."""


def warnings(spec: ReleaseSpec, facts: Facts) -> list[str]:
    """Warnings to the steward about a release against background knowledge."""
    return [
        *prior_warnings(spec, facts),
        *_estimated(spec),
        *_left_out(spec, facts),
        *_rare(facts),
        *_replayed(spec),
    ]


def _left_out(spec: ReleaseSpec, facts: Facts) -> Iterator[str]:
    lost, instead = facts.get(LOST), more_alike(spec)
    if lost and instead is not None:
        yield (
            f"{lost} records are left out, since too few others have a prior like theirs, or these"
            f" have the same values; {instead} makes priors more alike"
        )


def _rare(facts: Facts) -> Iterator[str]:
    needed = facts.get(NEEDED) or 0
    if needed > _MANY:
        yield (
            f"a class with the rarest sensitive value has at least {needed} records: a larger beta,"
            " or rare values under a common one, make classes smaller"
        )


def _estimated(spec: ReleaseSpec) -> Iterator[str]:
    requirement = bounded(spec)
    if requirement is None:
        return
    model = requirement.model
    assert isinstance(model, BackgroundKnowledge)
    if not model.from_outside:
        yield (
            "priors are estimated from the source, so which records can be in a class together"
            " depends on sensitive values; a relation of priors from elsewhere depends on none"
        )


def _replayed(spec: ReleaseSpec) -> Iterator[str]:
    if decides_by_values(spec):
        yield (
            f"who knows how the method {spec.policy.method.name} works can compute more than its"
            " classes show; beta_primacy with division: public and select: random keeps that from"
            " happening"
        )


BACKGROUND = replace(
    CLASSES,
    staging=Staging(relations, staging_steps),
    verification=replace(CLASSES.verification, checks=checks, said=MESSAGES),
    publication=replace(CLASSES.publication, warnings=warnings),
    statistics=replace(CLASSES.statistics, on_request=ON_REQUEST),
)

SINGLE = replace(
    BACKGROUND,
    staging=Staging(relations, lambda spec: staging_steps(spec, clustered=False)),
)
"""The same where every class has been held together by itself."""
