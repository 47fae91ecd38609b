"""Metrics of classes on request: their steps, and results of their facts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Self

from pganon.encode.axis import TreeAxis, axes
from pganon.forms.facts import SUPPRESSED
from pganon.forms.form import Description, Tables
from pganon.forms.metrics import Grid, Metrics, Pairs, Shown, WorkloadMetrics, figure
from pganon.forms.request import Request
from pganon.forms.shape import shown, values
from pganon.metrics import (
    classification,
    coverage,
    distribution,
    information,
    linkage,
    loss,
    source,
    workload,
)
from pganon.metrics.answers import bounds_of, errors_of, finite
from pganon.metrics.classification import Classification
from pganon.metrics.source import summed
from pganon.resolved.model import ReleaseSpec
from pganon.steps import Check, State, Step
from pganon.steps.facts import RECORDS


def measure_steps(
    spec: ReleaseSpec,
    description: Description,
    tables: Callable[[State], Tables],
    request: Request,
) -> tuple[Step, ...]:
    """Steps whose facts :func:`metrics_of` reads; `tables` are the staged relations."""
    made: list[Step] = [*source.steps(spec, description)]
    made += coverage.steps(spec, lambda s: shown(description.shape(spec, s), tables(s)))
    if request.everything:
        made += [
            Check(
                "metric_loss",
                "GLM and generalization height",
                lambda s: loss.further(spec, s),
                gives=loss.further_facts(spec),
            ),
            Check(
                "metric_entropy",
                "non-uniform entropy",
                lambda s: information.entropy(spec, s),
                gives=information.entropy_facts(spec),
            ),
            Check(
                "metric_vulnerable",
                "classes in which one sensitive value is too frequent",
                lambda s: information.vulnerable(
                    spec, values(description.shape(spec, s), tables(s)), request.vulnerable
                ),
                gives=information.vulnerable_facts(spec),
            ),
            *distribution.steps(axes(spec.attributes)),
            Check(
                "metric_divergence",
                "divergence of the combinations of values",
                lambda s: information.divergence(spec, s),
                gives=[information.KL, information.UNCOVERED],
            ),
            *linkage.steps(spec),
        ]
    if request.workload is not None:
        made += workload.steps(spec, description, tables, request.workload)
    if request.classify is not None:
        made += classification.steps(spec, description, request.classify)
    return tuple(made)


@dataclass(frozen=True)
class AttributeMetrics:
    """One quasi-identifier. Every figure but the differences is at least 0; 0 is no loss.

    Attributes:
        glm, entropy: shares of what can be lost; entropy is None for means and modes, which do
            not cover the values.
        height: mean level of the published label, suppressed records on the top; hierarchies.
        emd, kl: distances of the published from the source's distribution; None: infinite, or
            nothing to compare.
        uncovered: share of source records whose value nothing published covers.
        difference, half_width: mean of (published - source) / source share over the values, with
            its 95 % interval; absolute: the mean without signs.
    """

    glm: float
    entropy: float | None
    height: float | None
    emd: float | None
    kl: float | None
    uncovered: float
    difference: float | None
    half_width: float | None
    absolute: float | None


LABELS = {
    "glm": "GLM",
    "precision": "precision",
    "entropy": "entropy lost",
    "rgcp_relative": "RGCP (share)",
    "kl": "KL divergence",
    "links": "right links (centres)",
    "links_box": "right links (values)",
}
PER_ATTRIBUTE = {
    "glm": "GLM",
    "entropy": "entropy lost",
    "height": "height",
    "emd": "EMD",
    "kl": "KL",
    "difference": "difference",
    "half_width": "± 95 %",
    "absolute": "absolute",
}


@dataclass(frozen=True)
class ClassMetrics(Metrics):
    """Metrics of classes; see docs/reference/measures.md.

    Attributes:
        precision: 1 - mean share of the hierarchies' heights; None without hierarchies.
        rgcp, rgcp_relative: sum, and its share of what complete suppression costs.
        kl, uncovered: over combinations of all quasi-identifiers.
        links, links_box: expected number of source records linked to the right class, by the
            classes' means and by their published values.
        vulnerable: share of the classes by sensitive column.
        None of `kl`, `links`, `rgcp`: the table was too large to compare.
    """

    glm: float | None = None
    precision: float | None = None
    entropy: float | None = None
    rgcp: float | None = None
    rgcp_relative: float | None = None
    kl: float | None = None
    uncovered: float | None = None
    links: float | None = None
    links_box: float | None = None
    linked: float | None = None
    vulnerable: dict[str, float] | None = None
    attributes: dict[str, AttributeMetrics] | None = None
    workload: WorkloadMetrics | None = None
    classification: Classification | None = None

    @classmethod
    def recorded(cls, document: Mapping[str, Any]) -> Self:
        read = dict(document)
        if read["attributes"]:
            read["attributes"] = {n: AttributeMetrics(**a) for n, a in read["attributes"].items()}
        if read["workload"]:
            read["workload"] = WorkloadMetrics.recorded(read["workload"])
        if read.get("classification"):
            read["classification"] = Classification.recorded(read["classification"])
        return cls(**read)

    def shown(self) -> list[Shown]:
        parts: list[Shown] = []
        if self.attributes:
            pairs = {label: figure(getattr(self, name)) for name, label in LABELS.items()}
            for column, share in (self.vulnerable or {}).items():
                pairs[f"vulnerable classes ({column})"] = figure(share)
            parts += [Pairs(pairs), self._by_attribute(self.attributes)]
        if self.workload:
            parts.append(self.workload.shown())
        if self.classification:
            parts.append(self.classification.shown())
        return parts

    @staticmethod
    def _by_attribute(attributes: Mapping[str, AttributeMetrics]) -> Grid:
        names = list(PER_ATTRIBUTE.values())
        rows = [
            (name, *[figure(getattr(measures, key)) for key in PER_ATTRIBUTE])
            for name, measures in attributes.items()
        ]
        return Grid(["quasi-identifier", *names], rows, names)


def metrics_of(spec: ReleaseSpec, request: Request, state: State) -> ClassMetrics:
    """Metrics that the steps of :func:`measure_steps` measured."""
    values: dict[str, Any] = _everything(spec, state) if request.everything else {}
    if request.workload is not None:
        facts = state.facts
        sums = {item.published: errors_of(f"t{item.number}", facts) for item in summed(spec)}
        errors = errors_of("n", facts)
        values["workload"] = WorkloadMetrics(request.workload, errors, sums, bounds_of(facts))
    if request.classify is not None:
        values["classification"] = classification.classification(request.classify, state.facts)
    return ClassMetrics(**values)


def _everything(spec: ReleaseSpec, state: State) -> dict[str, Any]:
    attributes = {
        attribute.published: _attribute(spec, attribute.index, state)
        for attribute in spec.attributes
    }
    records = state[RECORDS]
    weights = sum(attribute.weight for attribute in spec.attributes)
    trees = [
        (axis.levels(state), attributes[axis.attribute.published].height or 0)
        for axis in axes(spec.attributes)
        if isinstance(axis, TreeAxis) and axis.attribute.covers
    ]
    lost = [a.entropy for a in attributes.values() if a.entropy is not None]
    rgcp, links = finite(state[linkage.RGCP]), finite(state[linkage.links(linkage.CENTRES)])
    return {
        "glm": sum(a.glm for a in attributes.values()) / len(attributes),
        "entropy": sum(lost) / len(lost) if lost else None,
        "precision": 1 - sum(h / top for top, h in trees if top) / len(trees) if trees else None,
        "rgcp": rgcp,
        "rgcp_relative": None
        if rgcp is None
        else rgcp / (linkage.SUPPRESSED_FACTOR * records * weights),
        "kl": _divergence(state[information.KL], state[information.UNCOVERED]),
        "uncovered": _share(state[information.UNCOVERED]),
        "links": links,
        "links_box": finite(state[linkage.links(linkage.BOXES)]),
        "linked": None if links is None else links / records,
        "vulnerable": {
            item.published: finite(state[information.vulnerable_share(item.index)]) or 0.0
            for item in spec.sensitive
        },
        "attributes": attributes,
    }


def _attribute(spec: ReleaseSpec, i: int, state: State) -> AttributeMetrics:
    records, suppressed = state[RECORDS], state[SUPPRESSED]

    def distance(name: str) -> float | None:
        return finite(state[distribution.distance(i, name)])

    axis = axes(spec.attributes)[i]
    height = entropy = None
    if axis.attribute.covers:
        bits, all_bits = state[information.bits(i)] or 0.0, state[information.all_bits(i)] or 0.0
        entropy = bits / all_bits if all_bits > 0 else 0.0
        if isinstance(axis, TreeAxis):
            top = axis.levels(state)
            height = ((state[loss.height(i)] or 0) + suppressed * top) / records
    return AttributeMetrics(
        glm=((state[loss.glm(i)] or 0) + suppressed) / records,
        entropy=entropy,
        height=height,
        emd=distance("emd"),
        kl=_divergence(distance("kl"), distance("uncovered")),
        uncovered=_share(distance("uncovered")) or 0.0,
        difference=distance("difference"),
        half_width=distance("half_width"),
        absolute=distance("absolute"),
    )


def _share(measured: float | None) -> float | None:
    value = finite(measured)
    return None if value is None else max(0.0, round(value, 12))


def _divergence(measured: float | None, uncovered: float | None) -> float | None:
    """None where something of the source is covered by nothing: then it is infinite."""
    value = finite(measured)
    return None if value is None or _share(uncovered) else max(0.0, value)
