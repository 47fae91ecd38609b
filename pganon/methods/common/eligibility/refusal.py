"""Refusal of records that no buckets can be made of, with what can be required instead."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pganon.errors import PrivacyRefusal
from pganon.identifiers import quote
from pganon.methods.common.eligibility.conditions import ALL, Conditions, Frequency
from pganon.methods.common.reachable import LEAST, infeasible
from pganon.resolved.model import ReleaseSpec
from pganon.steps import State


def refusal(asked: Conditions, row: Mapping[str, Any], state: State) -> PrivacyRefusal:
    """Refusal that names every condition that a stratum violates, and the largest l it allows."""
    conditions, among = asked.conditions(state), asked.among(state)
    if row["fails"] is None:
        return infeasible(
            f"{among} has {row['small']} records, a bucket needs at least {asked.minimum}",
            model=asked.model,
            required=asked.minimum,
            observed=int(row["small"]),
            hint="lower l or min_size, or leave these records out with `where`",
        )
    worst = _lowest(row)
    said = []
    for place, (most, size) in worst.items():
        frequency = conditions[place]
        null = " (one more for NULL)" if frequency.raised else ""
        said.append(
            f"{_named(asked.spec, frequency)}: its most frequent value has {most} of {size}"
            f" records, l = {frequency.l}{null} allows at most {size // frequency.l}"
        )
    first = next(iter(worst))
    where = "" if among == ALL else f", in {among}"
    most, size = worst[first]
    ways = [asked.remedy(state)] if row["together"] else []
    if row["possible"]:
        ways.append("leave records out with on_infeasible: suppress and a suppression_limit")
    return infeasible(
        f"not eligible: {'; '.join(said)}{where}",
        model=asked.model,
        required=conditions[first].l,
        observed=size // most,
        hint=_hint(asked.spec, conditions, worst, [way for way in ways if way]),
    )


def _hint(
    spec: ReleaseSpec,
    conditions: Sequence[Frequency],
    worst: Mapping[int, tuple[int, int]],
    ways: Sequence[str],
) -> str:
    """The l that can be required of columns that violate a condition, or other changes."""
    fitting, hopeless = [], []
    for place, (most, size) in worst.items():
        l = size // most - conditions[place].raised  # noqa: E741
        name = _named(spec, conditions[place])
        if l < LEAST:
            hopeless.append(name)
        else:
            fitting.append(f"at most l = {l}" + (f" of {name}" if len(worst) > 1 else ""))
    if not hopeless:
        return ", or ".join([f"require {', '.join(fitting)}", *ways])
    instead = ", or ".join(ways or ["choose other columns, or release other records"])
    return f"no l can be required of {', '.join(hopeless)}: {instead}"


def _lowest(row: Mapping[str, Any]) -> dict[int, tuple[int, int]]:
    """By condition, the (most frequent, size) of the stratum that allows the smallest l."""
    lowest: dict[int, tuple[int, int]] = {}
    for place, (most, size) in zip(
        json.loads(row["places"]), json.loads(row["missed"]), strict=True
    ):
        previous = lowest.get(place)
        if previous is None or size * previous[0] < previous[1] * most:
            lowest[place] = (int(most), int(size))
    return lowest


def _named(spec: ReleaseSpec, frequency: Frequency) -> str:
    names = [quote(spec.sensitive[i].column.name) for i in frequency.columns]
    return f"column {names[0]}" if len(names) == 1 else f"columns {', '.join(names)} together"
