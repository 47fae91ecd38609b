"""Classification on request: what a model learns from a release, against the source.

mclassified   empty; the figures of the search are facts
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from typing import Any

from sqlglot import exp

from pganon.encode.axis import axes
from pganon.encode.secrets import row_hash, run_secret
from pganon.errors import UsageError
from pganon.forms.form import Description
from pganon.forms.metrics import Grid, figure
from pganon.forms.request import Classify
from pganon.identifiers import first_few, quote
from pganon.metrics import predictions
from pganon.metrics.source import on_line, records
from pganon.resolved.model import Carried, ReleaseSpec, Sensitive
from pganon.sqltools import aliased, col, fragment, named, query, scalar
from pganon.steps import Search, State
from pganon.steps.facts import Fact, Facts, measure
from pganon.steps.tasks import Task

MOST_RECORDS = 50_000
"""Records that models are trained and tested with; of more a random part."""

LEAST_GAINED = 0.01
"""Accuracy that the source must give above the most frequent value, to say what is kept of it."""

WHY_NOT = {
    predictions.TOO_FEW: "too few records",
    predictions.ONE_VALUE: "one value alone",
    predictions.MANY_VALUES: f"more than {predictions.MOST_LABELS} values",
    predictions.NO_CONVERGENCE: "a model did not converge",
}

Target = Sensitive | Carried


def _fact(name: str) -> Fact[float]:
    return measure(name, of="classified_")


_FIGURES = tuple(
    _fact(name) for answer in predictions.ANSWERS for name in (answer, f"{answer}_deviation")
)
_PROBLEM = _fact("problem")


@dataclass(frozen=True)
class Classification:
    """How well a column is predicted from the quasi-identifiers: accuracy, mean over ten parts.

    Attributes:
        original: trained and tested on values of the source.
        published: trained and tested on what is published.
        transfer: trained on what is published, tested on values of the source.
        baseline: the most frequent value for everybody.
        deviations: of these over the parts, by name.
        kept: of `published` and `transfer`, the share of what the source gains over the baseline;
            None where it gains less than LEAST_GAINED.
        reason: why something is None.
    """

    target: str
    how: str
    original: float | None
    published: float | None
    transfer: float | None
    baseline: float | None
    deviations: Mapping[str, float | None]
    kept: Mapping[str, float | None]
    reason: str | None = None

    def shown(self) -> Grid:
        rows = [
            (
                answer,
                figure(getattr(self, answer)),
                figure(self.deviations[answer]),
                figure(self.kept[answer]) if answer in self.kept else "",
            )
            for answer in predictions.ANSWERS
        ]
        why = f"; {self.reason}" if self.reason else ""
        return Grid(
            ["classifier", "accuracy", "deviation", "kept"],
            rows,
            ["accuracy", "deviation", "kept"],
            f"{quote(self.target)} predicted from quasi-identifiers ({self.how}){why}",
        )


def target_of(spec: ReleaseSpec, asked: Classify) -> tuple[str, Target]:
    """The work column and the declaration of what is predicted.

    Raises:
        UsageError: it is no column that is published unchanged.
    """
    named_columns: list[tuple[str, Target]] = [
        *[(f"v{item.index}", item) for item in spec.sensitive],
        *[(f"p{item.index}", item) for item in spec.carried],
    ]
    for work, item in named_columns:
        if item.published == asked.target:
            return work, item
    names = first_few([quote(item.published) for _, item in named_columns])
    raise UsageError(
        f"--classify: {quote(asked.target)} is no column that is published unchanged",
        hint=f"name one of these: {names}" if names else "the policy has none",
    )


def steps(spec: ReleaseSpec, description: Description, asked: Classify) -> list[Search]:
    """From `mshown`, `mcover<i>` and `mplaces<i>`."""
    return [
        Search(
            "classify",
            "how well the release predicts a column",
            lambda s: s.work("mclassified"),
            (("nothing", "smallint"),),
            given=lambda s: _given(spec, s),
            batches=lambda s: 1,
            rows=lambda s, batch: _rows(spec, description, asked, s),
            tasks=lambda s, given, rows: [_task(spec, asked, given, rows)],
            gives=(*_FIGURES, _PROBLEM),
        )
    ]


def _task(
    spec: ReleaseSpec, asked: Classify, given: Mapping[str, Any], rows: Sequence[tuple[Any, ...]]
) -> Task:
    from pganon.metrics import learning  # NumPy takes a while to load

    columns = [
        learning.Line(given[f"places{axis.index}"] or (), given[f"shown{axis.index}"] or ())
        if on_line(axis)
        else learning.Values(given[f"shown{axis.index}"] or ())
        for axis in axes(spec.attributes)
    ]
    digest = sha256(f"{asked.seed},{asked.target}".encode()).digest()
    return partial(learning.scored, rows, columns, asked.how, int.from_bytes(digest[:4], "big"))


def _given(spec: ReleaseSpec, state: State) -> exp.Select:
    """One row: places of values by code, and what published values cover by their number."""
    tree = query("select 1 as nothing")
    for axis in axes(spec.attributes):
        if on_line(axis):
            places = query(
                "select array_agg(p.at::float8 order by p.code) from p where p.code > 0",
                {"p": state.work(f"mplaces{axis.index}")},
            )
            tree = tree.select(named(scalar(places), f"places{axis.index}"))
        value = fragment("(c.start + c.stop) / 2" if on_line(axis) else "c.bits::text")
        covers = query(
            "select array_agg(:v order by c.id) from c",
            {"c": state.work(f"mcover{axis.index}")},
            v=value,
        )
        tree = tree.select(named(scalar(covers), f"shown{axis.index}"))
    return tree


def _rows(spec: ReleaseSpec, description: Description, asked: Classify, state: State) -> exp.Select:
    """:data:`pganon.metrics.learning.Row` of every record, or of a random part."""
    codes = [axis.code for axis in axes(spec.attributes)]
    numbers = [f"id{axis.index}" for axis in axes(spec.attributes)]
    target, _ = target_of(spec, asked)
    source = query(
        "select r.*, dense_rank() over (order by :v) as label from r",
        {"r": records(spec, description, ["group_id", *codes, target], state)},
        v=col(target, "r"),
    )
    # Equal records would follow each other, and all or none of them would be in the part.
    record = exp.func("row", *[col(name, "x") for name in ("label", "group_id", *codes)])
    copies = fragment("row_number() over (partition by :row)", row=record)
    apart = query("select x.* from x", {"x": source}).select(named(copies, "copy"))
    key = exp.func("row", *[col(name, "y") for name in ("label", "group_id", *codes, "copy")])
    tree = query("select y.label from y", {"y": apart}).join(
        aliased(state.work("mshown"), "m"),
        on=exp.EQ(this=col("group_id", "m"), expression=col("group_id", "y")),
        join_type="left",
    )
    tree = tree.select(*[fragment("coalesce(:id, 0)", id=col(name, "m")) for name in numbers])
    tree = tree.select(*[col(name, "y") for name in codes])
    seed = scalar(run_secret(state, "partition_seed"))
    return tree.order_by(row_hash(key, seed)).limit(MOST_RECORDS)


def classification(asked: Classify, facts: Facts) -> Classification:
    """From the facts of the search."""
    figures = {fact.column: facts[fact] for fact in _FIGURES}
    found = {name: one if math.isfinite(one) else None for name, one in figures.items()}
    gained = _difference(found["original"], found["baseline"])
    small = gained is not None and gained < LEAST_GAINED
    return Classification(
        asked.target,
        asked.how,
        **{answer: found[answer] for answer in predictions.ANSWERS},
        deviations={answer: found[f"{answer}_deviation"] for answer in predictions.ANSWERS},
        kept={
            answer: _share(_difference(found[answer], found["baseline"]), gained)
            for answer in ("published", "transfer")
        },
        reason=WHY_NOT.get(int(facts[_PROBLEM])) or ("the source gains nothing" if small else None),
    )


def _share(gained: float | None, possible: float | None) -> float | None:
    if gained is None or possible is None or possible < LEAST_GAINED:
        return None
    return gained / possible


def _difference(high: float | None, low: float | None) -> float | None:
    return None if high is None or low is None else high - low
