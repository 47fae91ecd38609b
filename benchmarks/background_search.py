"""k-anonymity-primacy as in the paper: records that complete no class are left out.

Nothing is published here. As a release this would often be refused: who is left out changes the
distribution that the classes are held against.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.background_tables import Drawn, Setting
from pganon.methods.background.search.limits import Likeness
from pganon.methods.background.search.linkage import MOST, clusters
from pganon.methods.background.search.points import Attribute, Nominal, Ordered, Points
from pganon.methods.background.search.primacy import Post, k_primacy

DECIMALS = 12
NEAR = 1e-9

Row = dict[str, Any]
Rows = npt.NDArray[np.int64]


def searched(drawn: Drawn, post: Post, setting: Setting) -> Row:
    """Figures of the classes of all clusters, whether these satisfy the model or not."""
    assert setting.beta is not None
    names = sorted({person[-1] for person in drawn.people})
    sensitive = np.array([names.index(person[-1]) for person in drawn.people])
    limits = Likeness(setting.beta).limits(np.bincount(sensitive) / len(sensitive))
    classes: list[Rows] = []
    attributes = _attributes(drawn)
    labels = _labels(drawn, setting)
    for cluster in range(labels.max() + 1):
        rows = np.flatnonzero(labels == cluster)
        if len(rows) < setting.k:
            continue
        points = Points([_part(attribute, rows) for attribute in attributes])
        found = k_primacy(
            points, sensitive[rows], setting.k, limits, post=post, pick="nearest",
            residual="suppress",
        )  # fmt: skip
        classes += [rows[members] for members in found.classes]
    return figures(attributes, classes)


def figures(attributes: Sequence[Attribute], classes: Sequence[Rows]) -> Row:
    """Loss and links as the metrics of a run, but that suppressed records cost no GCP.

    Args:
        classes: records of each; all others are suppressed.
    """
    records = len(_column(attributes[0]))
    sizes = np.array([len(members) for members in classes], dtype=np.int64)
    of = np.full(records, -1)
    for number, members in enumerate(classes):
        of[members] = number
    far = np.zeros((records, len(classes)))
    others = np.zeros((records, len(classes)))
    for attribute in attributes:
        column = _column(attribute)
        for number, members in enumerate(classes):
            if isinstance(attribute, Ordered):
                far[:, number] += (column - column[members].mean()) ** 2
            else:
                held = np.unique(column[members])
                within = 0.5 if len(held) > 1 else 0.0
                others[:, number] += np.where(np.isin(column, held), within, 1.0)
    far = np.sqrt(far) + others
    joined = [list(members) for members in classes]
    for record in np.flatnonzero(of < 0) if classes else ():
        near = np.flatnonzero(far[record] <= far[record].min() + NEAR)
        joined[near[sizes[near].argmin()]].append(record)
    loss = sum(len(members) * _ncp(attributes, members) for members in classes)
    more = sum(
        len(members) * _ncp(attributes, np.array(members)) * (2 if len(members) > size else 1)
        for members, size in zip(joined, sizes, strict=True)
    )
    links = 0.0
    for record in np.flatnonzero(of >= 0):
        near = far[record] <= far[record].min() + NEAR
        links += float(near[of[record]] / sizes[near].sum())
    published = int(sizes.sum())
    return {
        "classes": len(classes),
        "suppressed": records - published,
        "average": published / max(len(classes), 1),
        "smallest": int(sizes.min()) if classes else 0,
        "gcp": loss / records,
        "rgcp": more / records if classes else 4.0,
        "rl": links,
        "linked": links / records,
    }


def _ncp(attributes: Sequence[Attribute], members: Rows) -> float:
    """Mean over the attributes: the share of a range, or (values - 1) / (all values - 1)."""
    lost = 0.0
    for attribute in attributes:
        column = _column(attribute)[members]
        if isinstance(attribute, Ordered):
            lost += float(np.ptp(column))
        else:
            assert isinstance(attribute, Nominal)
            lost += (len(np.unique(column)) - 1) / max(attribute.size - 1, 1)
    return lost / len(attributes)


def _column(attribute: Attribute) -> npt.NDArray[Any]:
    return attribute.places if isinstance(attribute, Ordered) else attribute.codes


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
    if len(vectors) > MOST:
        raise ValueError(f"a release would not cluster {len(vectors)} priors together")
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
