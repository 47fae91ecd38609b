"""The recorded guarantee of a release as text."""

from __future__ import annotations

from typing import Any

from pganon.resolved.guarantee import CHOICES


def guarantee_text(guarantee: list[dict[str, Any]]) -> str:
    """Requirements in one line: `k_anonymity k=5, t_closeness(occupation) t=0.2`."""
    return ", ".join(item["requirement"] for item in guarantee)


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
