"""What a run made of which columns, as an event of OpenLineage: names alone, no counts, no values.

A mark of personal data ends where `masking` is true, and goes on where values are published as they
are. The event is sent once the version is published, so a failure is a warning.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from importlib.metadata import version
from typing import Any
from urllib.parse import urlsplit
from uuid import NAMESPACE_URL, uuid5

from sqlglot import exp

from pganon import plain
from pganon.catalog.model import Relation
from pganon.errors import UsageError
from pganon.identifiers import QualifiedName, split_name
from pganon.resolved.model import ReleaseSpec, Shown
from pganon.resolved.tables import PERIOD, parts, rows_part
from pganon.sqlfiles import Connection
from pganon.steps.relations import PublishedView

Way = dict[str, Any]
"""What a column does to those that it is made of: a transformation of OpenLineage."""

Made = tuple[Relation, str, Way]
"""A column of a relation, and what is done to it."""

TIMEOUT = 5.0
"""Seconds in which a server has to answer."""

_SPEC = "https://openlineage.io/spec"


def _way(kind: str, subtype: str, description: str, *, masking: bool) -> Way:
    return {"type": kind, "subtype": subtype, "description": description, "masking": masking}


_AS_IT_IS = _way("DIRECT", "IDENTITY", "published as it is", masking=False)
_OF_VIEW = _way("DIRECT", "TRANSFORMATION", "computed by a view", masking=False)
_COARSER = _way("DIRECT", "TRANSFORMATION", "generalized", masking=True)
_CENTRE = _way("DIRECT", "AGGREGATION", "in the middle of a group", masking=True)
_GROUPED = _way("INDIRECT", "GROUP_BY", "groups of records", masking=True)
_FILTERED = _way("INDIRECT", "FILTER", "condition of the policy", masking=True)

_WAYS = {Shown.EXACT: _AS_IT_IS, Shown.MEAN: _CENTRE, Shown.MODE: _CENTRE}


def check_target(target: str) -> None:
    """Refuse an address that no event can be sent to, or that has a password.

    Raises:
        UsageError
    """
    if not _is_url(target):
        return
    try:
        url = urlsplit(target)
        good = url.hostname and url.port != 0 and not url.query + url.fragment
        good = good and "@" not in url.netloc
    except ValueError:
        good = False
    if not good:
        raise UsageError(
            "--lineage has no address of a server",
            hint="such as https://lineage.example; the variable OPENLINEAGE_API_KEY has the key",
        )


def sent(
    conn: Connection,
    spec: ReleaseSpec,
    views: Iterable[PublishedView],
    run_id: int,
    target: str,
) -> tuple[str, ...]:
    """Send the event of a run, or write it at the end of a file; warnings."""
    info, where = conn.info, target
    host = "localhost" if info.host.startswith("/") else info.host
    place = f"postgres://{f'[{host}]' if ':' in host else host}:{info.port}"
    event = event_of(place, info.dbname, spec, tuple(views), run_id, datetime.now(UTC))
    text, why = plain.as_json(event).encode(), ""
    try:
        if _is_url(target):
            where = urlsplit(target).hostname or ""
            status = _posted(target, text)
            why = "" if 200 <= status < 300 else f"status {status}"
        else:
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK
            with open(os.open(target, flags, 0o666), "ab") as file:
                file.write(text + b"\n")
    except (OSError, HTTPException, ValueError) as error:
        why = type(error).__name__  # some texts have the key, or what the server answers
    if why:
        return (f"the version is published, but {where} got no lineage event of it ({why})",)
    return ()


def event_of(
    place: str,
    database: str,
    spec: ReleaseSpec,
    views: tuple[PublishedView, ...],
    run_id: int,
    at: datetime,
) -> dict[str, Any]:
    """A COMPLETE event.

    Args:
        place: namespace of the tables of the server.
    """
    producer = f"urn:pganon:{version('pganon')}"
    tables = dict.fromkeys(spec.external.relations)

    def dataset(name: QualifiedName) -> dict[str, Any]:
        return {"namespace": place, "name": f"{database}.{name.schema}.{name.name}"}

    def fields(made: Made) -> Iterator[dict[str, Any]]:
        relation, name, way = made
        for table, column, as_it_is in _bases(relation, name):
            tables[table] = None
            done = way if as_it_is or way["subtype"] != "IDENTITY" else _OF_VIEW
            yield {**dataset(table), "field": column, "transformations": [done]}

    def facet(view: PublishedView) -> dict[str, Any]:
        shown: dict[str, list[dict[str, Any]]] = {}
        names = {column.name for column in view.columns}
        for name, made in _of_part(spec, view.name):
            if name in names:
                shown.setdefault(name, []).extend(fields(made))
        return {
            "_producer": producer,
            "_schemaURL": f"{_SPEC}/facets/1-2-0/ColumnLineageDatasetFacet.json"
            "#/$defs/ColumnLineageDatasetFacet",
            "fields": {name: {"inputFields": found} for name, found in shown.items()},
            "dataset": [field for made in _indirect(spec) for field in fields(made)],
        }

    outputs = [{**dataset(v.name), "facets": {"columnLineage": facet(v)}} for v in views]
    return {
        "eventType": "COMPLETE",
        "eventTime": at.isoformat(),
        "producer": producer,
        "schemaURL": f"{_SPEC}/2-0-2/OpenLineage.json#/$defs/RunEvent",
        "run": {"runId": str(uuid5(NAMESPACE_URL, f"{place}/{database}#{run_id}"))},
        "job": {"namespace": "pganon", "name": spec.policy.release},
        "inputs": [dataset(name) for name in tables],
        "outputs": outputs,
    }


def _of_part(spec: ReleaseSpec, view: QualifiedName) -> Iterator[tuple[str, Made]]:
    """Columns that a view may show, by their published names."""
    related = spec.related
    of = {spec.view_of(part): table for part, table in parts(related)} if related else {}
    if related is None or view not in of:
        yield from _of_source(spec)
        return
    for events in related.events:
        if events.period is not None:
            yield PERIOD, (events.relation, events.period.name, _COARSER)
        in_rows = view == spec.view_of(rows_part(events))
        for item in events.items if events.name == of[view] else ():
            way = _COARSER if item.level else _AS_IT_IS
            name = "value" if in_rows else item.published
            yield name, (events.relation, item.column.name, way)
    for lookup in related.lookups:
        for column, name in lookup.columns if lookup.name == of[view] else ():
            yield name, (lookup.relation, column.name, _AS_IT_IS)


def _of_source(spec: ReleaseSpec) -> Iterator[tuple[str, Made]]:
    for one in spec.attributes:
        made = (spec.source, one.column.name, _WAYS.get(one.form, _COARSER))
        for name in dict.fromkeys([one.published, *one.flat_names]):
            yield name, made
        if one.null_column is not None:
            yield one.null_column, (spec.source, one.column.name, _COARSER)
    for item in (*spec.sensitive, *spec.carried):
        yield item.published, (spec.source, item.column.name, _AS_IT_IS)
    for mean in (*spec.averaged, *spec.microaggregated):
        for name in getattr(mean, "names", [mean.published]):
            yield name, (spec.source, mean.column.name, _CENTRE)


def _indirect(spec: ReleaseSpec) -> Iterator[Made]:
    """What all columns depend on."""
    for one in spec.attributes:
        yield spec.source, one.column.name, _GROUPED
    events = spec.related.events if spec.related else ()
    for relation, where in [(spec.source, spec.where), *[(e.relation, e.where) for e in events]]:
        found = where.find_all(exp.Column) if where is not None else ()
        for name in dict.fromkeys(column.name for column in found):
            yield relation, name, _FILTERED


def _bases(relation: Relation, name: str) -> Iterator[tuple[QualifiedName, str, bool]]:
    """Columns of tables that one of a relation comes from, and whether it is one as it is."""
    origin = relation.origins.get(name)
    if "view" not in relation.kind or origin is None or not origin.bases:
        yield relation.name, name, True
        return
    for base in sorted(one for one in origin.bases if "#" not in one):
        schema, table, column = split_name(base)
        yield QualifiedName(schema, table), column, origin.plain


def _is_url(target: str) -> bool:
    return target.lower().startswith(("http:", "https:"))


def _posted(target: str, text: bytes) -> int:
    """The status. The key goes to this server alone, by no proxy, and no redirect is followed."""
    url, key = urlsplit(target), os.environ.get("OPENLINEAGE_API_KEY")
    headers = {"Content-Type": "application/json"}
    if key:
        headers["Authorization"] = f"Bearer {key}"
    kind = HTTPSConnection if url.scheme == "https" else HTTPConnection
    with contextlib.closing(kind(url.netloc, timeout=TIMEOUT)) as server:
        server.request("POST", f"{url.path.rstrip('/')}/api/v1/lineage", text, headers)
        return server.getresponse().status
