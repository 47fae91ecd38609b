"""k-anonymity-primacy as in the paper: records that complete no class are left out.

Nothing is published here. As a release this would often be refused: who is left out changes the
distribution that the classes are held against.
"""

from __future__ import annotations

from collections.abc import Sequence
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


def _labels(drawn: Drawn, setting: Setting) -> np.ndarray:
    """The cluster of every record."""
    priors = drawn.source.priors
    if priors is None or setting.j is None:
        return np.zeros(len(drawn.people), dtype=np.int64)
    vectors: dict[tuple[float, ...], int] = {}
    cells = {
        cell: vectors.setdefault(tuple(np.round(priors[1](*cell), DECIMALS).tolist()), len(vectors))
        for cell in sorted({tuple(person[:-1]) for person in drawn.people})
    }
    of = np.array([cells[tuple(person[:-1])] for person in drawn.people])
    return clusters(np.array(list(vectors)), setting.j)[of]


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
