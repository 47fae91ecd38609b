"""Metrics of classes on request: their steps, and results of their facts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from pganon.encode.axis import TreeAxis, axes
from pganon.encode.sensitive import sensitive_key
from pganon.forms.facts import PUBLISHED, SUPPRESSED
from pganon.forms.form import Description, Tables
from pganon.forms.metrics import Grid, Metrics, Pairs, Shown, WorkloadMetrics, figure
from pganon.forms.request import Request
from pganon.forms.shape import shown, values
from pganon.metrics import classification, coverage, distribution, linkage, loss, source, workload
from pganon.metrics.answers import bounds_of, errors_of, finite
from pganon.metrics.classification import Classification
from pganon.metrics.coverage import covered
from pganon.metrics.source import few, summed
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import aliased, col, conjunction, fragment, named, num, query, scalar
from pganon.steps import Check, State, Step
from pganon.steps.facts import RECORDS, Fact, count, measure, or_null


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
        facts = [fact for a in spec.attributes for fact in (bits(a.index), all_bits(a.index))]
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
                lambda s: entropy(spec, s),
                gives=[or_null(count("records", "metric_entropy_")), *facts],
            ),
            Check(
                "metric_vulnerable",
                "classes in which one sensitive value is too frequent",
                lambda s: vulnerable(
                    spec, values(description.shape(spec, s), tables(s)), request.vulnerable
                ),
                gives=vulnerable_facts(spec),
            ),
            *distribution.steps(axes(spec.attributes)),
            Check(
                "metric_divergence",
                "divergence of the combinations of values",
                lambda s: divergence(spec, s),
                gives=[KL, UNCOVERED],
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

    def shown(self) -> list[Shown]:
        parts: list[Shown] = []
        if self.attributes:
            pairs = {label: figure(getattr(self, name)) for name, label in LABELS.items()}
            for column, share in (self.vulnerable or {}).items():
                pairs[f"vulnerable classes ({column})"] = figure(share)
            names = list(PER_ATTRIBUTE.values())
            rows = [
                (name, *[figure(getattr(measures, key)) for key in PER_ATTRIBUTE])
                for name, measures in self.attributes.items()
            ]
            parts += [Pairs(pairs), Grid(["quasi-identifier", *names], rows, names)]
        if self.workload:
            parts.append(self.workload.shown())
        if self.classification:
            parts.append(self.classification.shown())
        return parts


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
        "kl": _divergence(state[KL], state[UNCOVERED]),
        "uncovered": _share(state[UNCOVERED]),
        "links": links,
        "links_box": finite(state[linkage.links(linkage.BOXES)]),
        "linked": None if links is None else links / records,
        "vulnerable": {
            item.published: finite(state[vulnerable_share(item.index)]) or 0.0
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
        lost, most = state[bits(i)] or 0.0, state[all_bits(i)] or 0.0
        entropy = lost / most if most > 0 else 0.0
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


# Information about records that is lost: non-uniform entropy, KL divergence of the whole table,
# classes whose sensitive values say too much.


def bits(index: int) -> Fact[float | None]:
    """Bits lost of a quasi-identifier."""
    return or_null(measure(f"bits{index}", "metric_"))


def all_bits(index: int) -> Fact[float | None]:
    """The same if every record were suppressed."""
    return or_null(measure(f"all_bits{index}", "metric_"))


KL = or_null(measure("kl", "metric_"))
UNCOVERED = or_null(measure("uncovered", "metric_"))
"""Fact that :func:`divergence` gives; None where the table was too large to compare."""


def vulnerable_facts(spec: ReleaseSpec) -> list[Fact[Any]]:
    """Facts that :func:`vulnerable` gives."""
    facts = [vulnerable_share(item.index) for item in spec.sensitive]
    return [count("columns", "metric_vulnerable_"), *facts]


def vulnerable_share(index: int) -> Fact[float | None]:
    """Share of the groups in which one value of a sensitive column is too frequent."""
    return or_null(measure(f"vulnerable{index}", "metric_"))


def entropy(spec: ReleaseSpec, state: State) -> exp.Expr:
    """One row: `bits<i>` lost per attribute, and `all_bits<i>` if every record were suppressed.

    A record loses -log2 of the share that its value has among all source records with a value
    that the published one covers.
    """
    tree = query(
        "select sum(s.n) as records from s left join b on b.group_id = s.group_id",
        {"s": state.work("msource"), "b": state.work("mboxes")},
    )
    for axis in axes(spec.attributes):
        i, alias = axis.index, f"d{axis.index}"
        tree = tree.join(
            aliased(axis.dictionary(state), alias),
            on=exp.EQ(this=col("code", alias), expression=col(axis.code, "s")),
        )
        lost = "sum(s.n * ln(:mass::float8 / :n)) / ln(2::float8)"
        records, weight = num(state[RECORDS]), col("n", alias)
        mass = fragment("coalesce(:m, :all)", m=col(f"mass{i}", "b"), all=records)
        tree = tree.select(
            named(fragment(lost, mass=mass, n=weight), bits(i).column),
            named(fragment(lost, mass=records, n=weight), all_bits(i).column),
        )
    return tree


def divergence(spec: ReleaseSpec, state: State) -> exp.Expr:
    """One row: `kl` of the source's combinations of values from the published ones.

    A released record is spread evenly over the combinations that its published values cover.
    `uncovered` is the share of source records with a combination that nothing published covers;
    `kl` is a sum over the others.
    """
    if not few(state):
        return query("select null::float8 as kl, null::float8 as uncovered")
    attributes = axes(spec.attributes)
    names = [axis.code for axis in attributes]
    cells = query("select s.cell, sum(s.n)::float8 as n from s", {"s": state.work("msource")})
    cells = cells.select(*[col(name, "s") for name in names])
    cells = cells.group_by(col("cell", "s"), *[col(name, "s") for name in names])
    density: exp.Expr = fragment("b.n::float8")
    for axis in attributes:
        density = fragment(":d / :c", d=density, c=col(f"covers{axis.index}", "b"))
    inside = conjunction(
        [exp.paren(covered(axis, col(axis.code, "c"), "b")) for axis in attributes]
    )
    tree = query(
        "select c.cell, c.n, sum(:d) as density from c join b on :inside group by c.cell, c.n",
        {"c": cells, "b": state.work("mboxes")},
        d=density,
        inside=inside,
    )
    return query(
        "select sum(f.n / :records * ln(f.n / :records / (f.density / :released))) as kl,"
        " 1 - sum(f.n) / :records as uncovered from f",
        {"f": tree},
        records=num(state[RECORDS]),
        released=num(state[PUBLISHED]),
    )


def vulnerable(spec: ReleaseSpec, published: exp.Select, threshold: float) -> exp.Expr:
    """One row: `vulnerable<j>`, the share of groups in which one value has more than the share
    `threshold` of the records, per sensitive column."""
    tree = query("select 1 as columns")
    for item in spec.sensitive:
        counted = query("select v.group_id, count(*) as n from v", {"v": published}).group_by(
            col("group_id", "v"), sensitive_key(item, col(f"v{item.index}", "v"))
        )
        groups = query(
            "select c.group_id, max(c.n)::float8 / sum(c.n) as share from c group by c.group_id",
            {"c": counted},
        )
        share = query(
            "select avg((g.share > :t)::int)::float8 from g",
            {"g": groups},
            t=exp.Literal.number(repr(threshold)),
        )
        tree = tree.select(named(scalar(share), vulnerable_share(item.index).column))
    return tree
