"""Differences between two versions of a release, as the state tables have them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pganon.error_codes import ErrorCode
from pganon.errors import LedgerError
from pganon.identifiers import quote
from pganon.publish.release_state import History, Version
from pganon.resolved.republication import same_source


@dataclass(frozen=True)
class VersionDifference:
    """A property in which two versions differ; None where one of them lacks it.

    Attributes:
        about: "policy", "source", "columns", "records", "measured" or "utility".
        what: path in the policy, name of a column, or name of a statistic.
    """

    about: str
    what: str
    before: Any
    after: Any


def two_versions(
    history: History, first: int | None, second: int | None
) -> tuple[Version, Version]:
    """Return these versions; by default the one that is shown, or the newest, and the one before.

    After a rollback the one before it is the newest, which readers saw until then.

    Raises:
        LedgerError: unknown_version, no version has that number, or there is only one.
    """
    newest = history.versions[0]
    after = (history.current or newest) if second is None else history.version(second)
    if first is not None:
        return history.version(first), after
    if second is None and after.version < newest.version:
        return newest, after
    before = [v for v in history.versions if v.version < after.version]
    if not before:
        raise LedgerError(
            f"the release {quote(history.release.name)} has no version before {after.version}",
            hint="name two versions; `pganon show` lists them",
            code=ErrorCode.UNKNOWN_VERSION,
        )
    return before[0], after


def compare(before: Version, after: Version) -> list[VersionDifference]:
    """Return all differences, those of the policy first."""
    differences = [*_compared("policy", _flat(before.policy), _flat(after.policy))]
    differences += _sources(before, after)
    differences += _compared("columns", _columns(before), _columns(after))
    differences += _compared("records", _records(before), _records(after))
    differences += _compared("measured", _measured(before), _measured(after))
    differences += _compared("utility", _utility(before), _utility(after))
    return differences


def _compared(
    about: str, one: Mapping[str, Any], two: Mapping[str, Any]
) -> Iterator[VersionDifference]:
    for what in dict.fromkeys([*one, *two]):
        before, after = one.get(what), two.get(what)
        if before != after:
            yield VersionDifference(about, what, before, after)


def _flat(value: Any, path: str = "") -> dict[str, Any]:
    """Values by path, such as `privacy.k_anonymity.k`; items of a list of mappings by subject."""
    values: dict[str, Any] = {}
    if isinstance(value, Mapping) and value:
        for key, item in value.items():
            values |= _flat(item, f"{path}.{key}" if path else str(key))
        return values
    if isinstance(value, list) and value and all(isinstance(item, Mapping) for item in value):
        for number, item in enumerate(value):
            values |= _flat(item, f"{path}.{_label(item, number)}")
        return values
    return {path: value}


def _label(item: Mapping[str, Any], number: int) -> str:
    if "model" not in item:
        return str(number + 1)
    about = ".".join(item[key] for key in ("table", "column") if item.get(key))
    return f"{item['model']}({about})" if about else item["model"]


def _sources(before: Version, after: Version) -> Iterator[VersionDifference]:
    """Fingerprints of sources are keyed, so they disclose only whether the sources are equal."""
    if not same_source(before.source_fingerprint, after.source_fingerprint):
        yield VersionDifference("source", "rows", "as they were then", "changed")


def _columns(version: Version) -> dict[str, Any]:
    return {f"{c['view']}.{quote(c['name'])}": c["type"] for c in version.columns}


def _records(version: Version) -> dict[str, Any]:
    return {
        "in the source": version.measures["records"],
        "released": version.row_count,
        "suppressed": version.suppressed,
    }


def _measured(version: Version) -> dict[str, Any]:
    measured: dict[str, Any] = {}
    for item in version.measures["verified"]:
        column = f"({item['column']})" if item["column"] else ""
        against = f", {item['against']}" if item["against"] else ""
        measured[f"{item['model']}{column}{against}"] = item["measured"]
    return measured


def _utility(version: Version) -> dict[str, Any]:
    values = _flat(version.measures.get("utility", {}))
    return {what: value for what, value in values.items() if isinstance(value, int | float)}
