"""The recorded guarantee of a release as text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pganon.resolved.guarantee import CHOICES


def guarantee_text(guarantee: list[dict[str, Any]]) -> str:
    """Requirements in one line: `k_anonymity k=5, t_closeness(occupation) t=0.2`."""
    return ", ".join(_requirement(item) for item in guarantee)


_IN_OTHER_WORDS = (
    "model",
    "column",
    "if_not_null",
    "compared_with",
    "adversary",
    "over_versions",
    "groups",
    "levels",
    *CHOICES,
)


def holds_against(guarantee: list[dict[str, Any]]) -> dict[str, str]:
    """Against whom it holds, and the options that decide that; they are those of the release."""
    (first, *_) = guarantee or [{}]
    shown = {"holds against": first.get("adversary")}
    shown |= {name: first.get(name) for name in CHOICES}
    over = {
        f"{i.get('model')}: {i['over_versions']}": None for i in guarantee if "over_versions" in i
    }
    shown |= {"with all versions": "; ".join(over)}
    return {label: str(text) for label, text in shown.items() if text}


def _requirement(item: Mapping[str, Any]) -> str:
    column = f"({item['column']})" if item.get("column") else ""
    rest = [f"{k}={v}" for k, v in item.items() if k not in _IN_OTHER_WORDS and v is not None]
    given = ", ".join(f"{k}={v}" for k, v in item.get("if_not_null", {}).items())
    if_given = [f"({given} if it is not NULL)"] if given else []
    whole = [f"compared with {item['compared_with']}"] if "compared_with" in item else []
    of = [f"for groups {item['groups']}"] if "groups" in item else []
    return " ".join([f"{item.get('model', '')}{column}", *rest, *if_given, *whole, *of])
