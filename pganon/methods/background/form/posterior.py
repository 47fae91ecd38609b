"""Posteriors of a reader who holds the priors, measured on staged relations.

    posteriors   (class_id, members, believed, and of estimate and exact: the largest, <>_gain,
                  <>_above; NULL where there is none)

The reader knows which class everybody is in and how often it has every value. J bounds how
different the priors of a class are and not what he concludes from them, so it is measured: exactly
in small classes, by the Omega-estimate (Li, Li and Zhang, ICDE 2009) in all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
from sqlglot import exp

from pganon.forms.elements import value_key
from pganon.forms.facts import CLASSES
from pganon.forms.form import Tables
from pganon.methods.background.search import posterior
from pganon.methods.background.search.limits import Likeness, Shares
from pganon.policy.options import CLASS_ID
from pganon.privacy.likeness import BetaLikeness
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import num, query
from pganon.steps import Check, Rows, Search, State, Step
from pganon.steps.facts import Fact, count, measure, or_null
from pganon.steps.tasks import Task, TaskResult

MOST_MEMBERS = 8
"""Records of a class up to which posteriors are exact."""

MOST_EXACT = 20_000
"""Classes of which that is tried: the first ones, whose numbers are random."""

BATCH = 2_000
"""Classes that are read at a time."""

TASKS = 8

_COLUMNS = (
    (CLASS_ID, "integer"),
    ("members", "integer"),
    ("believed", "integer"),
    ("estimate", "float8"),
    ("estimate_gain", "float8"),
    ("estimate_above", "integer"),
    ("exact", "float8"),
    ("exact_gain", "float8"),
    ("exact_above", "integer"),
)


def _figure(name: str) -> Fact[float | None]:
    return or_null(measure(name, "metric_posterior_"))


BELIEVED = _figure("believed")
ESTIMATE, ESTIMATE_GAIN, ESTIMATE_ABOVE = map(
    _figure, ("estimate", "estimate_gain", "estimate_above")
)
EXACT, EXACT_GAIN, EXACT_ABOVE = map(_figure, ("exact", "exact_gain", "exact_above"))
COUNTED = count("counted", "metric_posterior_")
IMPOSSIBLE = count("impossible", "metric_posterior_")


def posterior_steps(spec: ReleaseSpec, tables: Callable[[State], Tables]) -> tuple[Step, ...]:
    """Steps that observe what :mod:`pganon.methods.background.form` reads."""
    return (
        Search(
            "metric_posteriors",
            "what a reader who holds the priors concludes of every class",
            lambda s: s.work("posteriors"),
            _COLUMNS,
            given=lambda s: _histograms(spec, tables(s)),
            batches=lambda s: -(-s[CLASSES] // BATCH),
            rows=lambda s, batch: _classes(spec, tables(s), batch),
            tasks=lambda s, given, rows: list(_tasks(_largest(spec, given), rows)),
        ),
        Check(
            "metric_posterior",
            "largest posteriors",
            _worst,
            gives=[
                BELIEVED,
                *(ESTIMATE, ESTIMATE_GAIN, ESTIMATE_ABOVE),
                *(EXACT, EXACT_GAIN, EXACT_ABOVE),
                *(COUNTED, IMPOSSIBLE),
            ],
        ),
    )


def _values(spec: ReleaseSpec, tables: Tables) -> exp.Select:
    """(class_id, value) of every record, the value by its code."""
    (item,) = spec.sensitive
    return query(
        "select r.class_id, f.position as value from records as r"
        " join reference as f on f.attribute = :a and f.value = :value",
        dict(tables),
        a=num(item.index),
        value=value_key(item, "r"),
    )


def _histograms(spec: ReleaseSpec, tables: Tables) -> exp.Select:
    """SELECT one row: `source` and `released` records by value."""
    (item,) = spec.sensitive
    return query(
        "select array_agg(f.n order by f.position) as source,"
        " array_agg(coalesce(x.n, 0) order by f.position) as released from reference as f"
        " left join (select v.value, count(*) as n from v group by v.value) as x"
        " on x.value = f.position where f.attribute = :a",
        {**tables, "v": _values(spec, tables)},
        a=num(item.index),
    )


def _classes(spec: ReleaseSpec, tables: Tables, batch: int) -> exp.Select:
    """SELECT class_id, priors and how many members have each, values and how often each is."""
    bounds = {"first": num(batch * BATCH + 1), "last": num((batch + 1) * BATCH)}
    counted = query(
        "select v.class_id, v.value, count(*) as n from v"
        " where v.class_id between :first and :last group by v.class_id, v.value",
        {"v": _values(spec, tables)},
        **bounds,
    )
    held = query(
        "select a.class_id, array_agg(p.probabilities order by a.prior) as priors,"
        " array_agg(a.n order by a.prior) as numbers from audit as a"
        " join prior as p on p.prior = a.prior"
        " where a.class_id between :first and :last group by a.class_id",
        dict(tables),
        **{name: bound.copy() for name, bound in bounds.items()},
    )
    return query(
        "select h.class_id, h.priors, h.numbers, c.values, c.counts from h"
        " join (select k.class_id, array_agg(k.value order by k.value) as values,"
        " array_agg(k.n order by k.value) as counts from k group by k.class_id) as c"
        " on c.class_id = h.class_id order by h.class_id",
        {"h": held, "k": counted},
    )


def _largest(spec: ReleaseSpec, given: Mapping[str, Any]) -> Shares | None:
    """By value the largest share in a class; None where the model does not bound it by value."""
    for requirement in spec.requirements:
        model = requirement.model
        if isinstance(model, BetaLikeness):
            source, released = np.array(given["source"]), np.array(given["released"])
            limits = Likeness(model.beta, model.variant)
            return limits.limits(source / source.sum(), released / released.sum()).f
    return None


def _tasks(largest: Shares | None, rows: Rows) -> Iterator[Task]:
    size = max(1, -(-len(rows) // TASKS))
    for first in range(0, len(rows), size):
        yield partial(_conclude, rows[first : first + size], largest)


def _conclude(rows: Rows, largest: Shares | None) -> TaskResult:
    """Args: rows: (class_id, priors, numbers, values, counts)."""
    made: list[tuple[Any, ...]] = []
    for class_id, priors, numbers, values, counted in rows:
        of_members = np.repeat(np.array(priors, dtype=float), numbers, axis=0)
        counts = np.zeros(of_members.shape[1], dtype=np.int64)
        counts[np.array(values) - 1] = counted
        exact = None
        if len(of_members) <= MOST_MEMBERS and class_id <= MOST_EXACT:
            exact = posterior.exact(of_members, counts)
        estimated = posterior.estimated(of_members, counts)
        told = [*_told(estimated, counts, largest), *_told(exact, counts, largest)]
        made.append((class_id, len(of_members), _above(of_members, largest), *told))
    return TaskResult(made)


def _told(
    posteriors: np.ndarray | None, counts: np.ndarray, largest: Shares | None
) -> tuple[Any, Any, Any]:
    if posteriors is None:
        return None, None, None
    return (*posterior.highest(posteriors, counts), _above(posteriors, largest))


def _above(probabilities: np.ndarray, largest: Shares | None) -> int | None:
    if largest is None:
        return None
    # A relation may know values that nobody has.
    return posterior.exceeding(probabilities[:, : len(largest)], largest)


def _worst(state: State) -> exp.Expr:
    return query(
        "select sum(p.believed)::float8 / sum(p.members) as believed,"
        " max(p.estimate) as estimate, max(p.estimate_gain) as estimate_gain,"
        " sum(p.estimate_above)::float8 / sum(p.members) filter (where p.estimate is not null)"
        " as estimate_above,"
        " max(p.exact) as exact, max(p.exact_gain) as exact_gain,"
        " sum(p.exact_above)::float8 / sum(p.members) filter (where p.exact is not null)"
        " as exact_above,"
        " count(p.exact) as counted, count(*) filter (where p.estimate is null) as impossible"
        " from p",
        {"p": state.work("posteriors")},
    )
