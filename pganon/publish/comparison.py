"""What differs between two versions of a release, as the state tables have them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pganon.error_codes import ErrorCode
from pganon.errors import LedgerError
from pganon.identifiers import quote
from pganon.publish.release_state import History, Version

_ABSENT = None


@dataclass(frozen=True)
class Difference:
    """One thing that two versions do not share; None where one of them lacks it.

    Attributes:
        about: "policy", "source", "columns", "records", "measured" or "utility".
        what: path in the policy, name of a column, or name of a figure.
    """

    about: str
    what: str
    before: Any
    after: Any


def two_versions(known: History, first: int | None, second: int | None) -> tuple[Version, Version]:
    """These versions; by default the one that is shown, or else the newest, and the one before it.

    Raises:
        LedgerError: unknown_version, there is none of that number, or only one.
    """
    after = _version(known, second) if second is not None else known.current or known.versions[0]
    if first is not None:
        return _version(known, first), after
    before = [v for v in known.versions if v.version < after.version]
    if not before:
        raise LedgerError(
            f"the release {quote(known.release.name)} has no version before {after.version}",
            hint="name two versions; `pganon show` lists them",
            code=ErrorCode.UNKNOWN_VERSION,
        )
    return before[0], after


def _version(known: History, number: int) -> Version:
    found = [v for v in known.versions if v.version == number]
    if not found:
        numbers = ", ".join(str(v.version) for v in reversed(known.versions))
        raise LedgerError(
            f"the release {quote(known.release.name)} has no version {number};"
            f" its versions: {numbers}",
            code=ErrorCode.UNKNOWN_VERSION,
        )
    return found[0]


def compare(before: Version, after: Version) -> list[Difference]:
    """Everything that differs, the policy first."""
    found = [*_compared("policy", _flat(before.policy), _flat(after.policy))]
    found += _sources(before, after)
    found += _compared("columns", _columns(before), _columns(after))
    found += _compared("records", _records(before), _records(after))
    found += _compared("measured", _measured(before), _measured(after))
    found += _compared("utility", _utility(before), _utility(after))
    return found


def _compared(about: str, one: Mapping[str, Any], two: Mapping[str, Any]) -> Iterator[Difference]:
    for what in dict.fromkeys([*one, *two]):
        before, after = one.get(what, _ABSENT), two.get(what, _ABSENT)
        if before != after:
            yield Difference(about, what, before, after)


def _flat(value: Any, path: str = "") -> dict[str, Any]:
    """Values by path, such as `privacy.k_anonymity.k`; items of a list of mappings by subject."""
    found: dict[str, Any] = {}
    if isinstance(value, Mapping) and value:
        for key, item in value.items():
            found |= _flat(item, f"{path}.{key}" if path else str(key))
        return found
    if isinstance(value, list) and value and all(isinstance(item, Mapping) for item in value):
        for number, item in enumerate(value):
            found |= _flat(item, f"{path}.{_label(item, number)}")
        return found
    return {path: value}


def _label(item: Mapping[str, Any], number: int) -> str:
    if "model" not in item:
        return str(number + 1)
    column = f"({item['column']})" if item.get("column") else ""
    return f"{item['model']}{column}"


def _sources(before: Version, after: Version) -> Iterator[Difference]:
    """Fingerprints of sources are keyed, so that they say no more than whether they are equal."""
    if before.source_fingerprint != after.source_fingerprint:
        yield Difference("source", "rows", "as they were then", "changed")


def _columns(version: Version) -> dict[str, Any]:
    return {f"{c['view']}.{quote(c['name'])}": c["type"] for c in version.columns}


def _records(version: Version) -> dict[str, Any]:
    return {
        "in the source": version.measures["records"],
        "released": version.row_count,
        "suppressed": version.suppressed,
    }


def _measured(version: Version) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for item in version.measures["verified"]:
        column = f"({item['column']})" if item["column"] else ""
        against = f", {item['against']}" if item["against"] else ""
        found[f"{item['model']}{column}{against}"] = item["measured"]
    return found


def _utility(version: Version) -> dict[str, Any]:
    found = _flat(version.measures.get("utility", {}))
    return {what: value for what, value in found.items() if isinstance(value, int | float)}
