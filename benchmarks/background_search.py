"""k-anonymity-primacy as in the paper: records that complete no class are left out.

Nothing is published here. As a release this would often be refused: who is left out changes the
distribution that the classes are held against.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from benchmarks.background_tables import Drawn, Setting
from pganon.methods.background.search.limits import Likeness
from pganon.methods.background.search.linkage import clusters
from pganon.methods.background.search.points import Attribute, Nominal, Ordered, Points
from pganon.methods.background.search.primacy import Post, k_primacy

DECIMALS = 12

Row = dict[str, Any]


def left_out(drawn: Drawn, post: Post, setting: Setting) -> Row:
    """Classes of all clusters, whether they satisfy the model or not, and how many are in none."""
    assert setting.beta is not None
    names = sorted({person[-1] for person in drawn.people})
    sensitive = np.array([names.index(person[-1]) for person in drawn.people])
    limits = Likeness(setting.beta).limits(np.bincount(sensitive) / len(sensitive))
    classes = lost = 0
    attributes = _attributes(drawn)
    labels = _labels(drawn, setting)
    for cluster in range(labels.max() + 1):
        rows = np.flatnonzero(labels == cluster)
        if len(rows) < setting.k:
            lost += len(rows)
            continue
        points = Points([_part(attribute, rows) for attribute in attributes])
        found = k_primacy(
            points, sensitive[rows], setting.k, limits, post=post, pick="nearest",
            residual="suppress",
        )  # fmt: skip
        classes += len(found.classes)
        lost += len(found.suppressed)
    return {"classes": classes, "suppressed": lost}


def clusters_of(drawn: Drawn, setting: Setting) -> int:
    """How many clusters of people about whom the same is known a bound J leaves."""
    return int(_labels(drawn, setting).max()) + 1


def _labels(drawn: Drawn, setting: Setting) -> np.ndarray:
    """The cluster of every record."""
    if setting.j is None:
        return np.zeros(len(drawn.people), dtype=np.int64)
    known = sorted({tuple(person[:-1]) for person in drawn.people})
    vectors: dict[tuple[float, ...], int] = {}
    cells = {
        cell: vectors.setdefault(tuple(np.round(prior, DECIMALS).tolist()), len(vectors))
        for cell, prior in zip(known, _priors(drawn, known), strict=True)
    }
    of = np.array([cells[tuple(person[:-1])] for person in drawn.people])
    return clusters(np.array(list(vectors)), setting.j)[of]


def _priors(drawn: Drawn, cells: Sequence[tuple[Any, ...]]) -> Iterable[Sequence[float]]:
    """What readers believe of people in these cells: as drawn, or estimated by the kernel."""
    source = drawn.source
    if source.priors is not None:
        return [source.priors[1](*cell) for cell in cells]
    place = {cell: at for at, cell in enumerate(cells)}
    values = sorted({person[-1] for person in drawn.people})
    counts = np.zeros((len(cells), len(values)))
    for person in drawn.people:
        counts[place[tuple(person[:-1])], values.index(person[-1])] += 1
    weights = np.ones((len(cells), len(cells)))
    for at, (name, kind) in enumerate(source.quasi.items()):
        column = [cell[at] for cell in cells]
        codes = [sorted(set(column)).index(value) for value in column]
        if kind == "text":
            apart = (np.subtract.outer(codes, codes) != 0).astype(float)
        else:
            apart = np.abs(np.subtract.outer(_scaled(column), _scaled(column)))
        weights *= np.clip(1 - (apart / source.width(name)) ** 2, 0, None)
    found = weights @ counts
    return found / found.sum(axis=1, keepdims=True)


def _attributes(drawn: Drawn) -> list[Attribute]:
    found: list[Attribute] = []
    for name, kind in drawn.source.quasi.items():
        values = drawn.values(name)
        if kind == "text":
            domain = sorted(set(values))
            found.append(
                Nominal(np.array([domain.index(value) + 1 for value in values]), len(domain))
            )
        else:
            found.append(Ordered(_scaled(values)))
    return found


def _scaled(values: Sequence[float]) -> np.ndarray:
    numbers = np.array(values, dtype=float)
    return (numbers - numbers.min()) / max(float(np.ptp(numbers)), 1.0)


def _part(attribute: Attribute, rows: np.ndarray) -> Attribute:
    if isinstance(attribute, Ordered):
        return Ordered(attribute.places[rows])
    assert isinstance(attribute, Nominal)
    return Nominal(attribute.codes[rows], attribute.size)
