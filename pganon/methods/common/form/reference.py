"""The distribution of the source that classes are compared with, where a policy publishes it.

    <release>_reference   (the sensitive column, share)

Who knows the distribution of the source can subtract that of the release: the difference is the
sensitive values of the suppressed records, and often it is visible who they are. So they must
satisfy what a class must (rule R of the specification of beta-likeness). None may be left out for
its value: which of them failed, and what all of them have, would disclose more together.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlglot import exp

from pganon.encode.first import first_counts, first_of
from pganon.encode.sensitive import with_paths
from pganon.encode.value_codes import referenced
from pganon.encode.work import sensitive_values
from pganon.error_codes import ErrorCode
from pganon.errors import PrivacyRefusal
from pganon.forms.elements import text_key, value_key
from pganon.forms.facts import failed_records
from pganon.forms.form import Tables
from pganon.forms.shape import value_histogram
from pganon.methods.common.form.checks import violations_check
from pganon.policy.options import REFERENCE, SHARE
from pganon.privacy.base import Relation, Requirement
from pganon.resolved.model import ReleaseSpec, Sensitive
from pganon.sqltools import cast, col, fragment, named, num, query, render, scalar, union_all
from pganon.steps import Check, State, Step, staged
from pganon.steps.facts import counts
from pganon.steps.relations import CheckQuery, PublishedView, ViewColumn

FIRST = "first_version"
"""Check that new individuals are compared with the distribution of the first version."""

SHARES = "shares"
"""Part: the stored relation that readers see."""


def published(spec: ReleaseSpec) -> Sensitive | None:
    """The column whose distribution is published."""
    return referenced(spec)[0] if spec.policy.publish.reference else None


def shares_steps(spec: ReleaseSpec) -> list[Step]:
    """Once `records` and `reference` are staged."""
    item = published(spec)
    if item is None:
        return []
    shown = staged(SHARES, "the distribution that is published", lambda s: _shares(spec, item, s))
    if first_of(spec, item) is not None:
        return [shown]  # nothing, and of nobody whom the run suppresses
    shares = Check(
        "subtracted",
        "what the published distribution tells of suppressed records",
        lambda s: _subtracted(spec, s, item),
        lambda row, state: _disclosed(spec, row, failed_records(state)),
        gives=counts("withheld", "missed", of="subtracted_"),
    )
    return [shares, shown]


def _shares(spec: ReleaseSpec, item: Sensitive, state: State) -> exp.Expr:
    """No row in later versions of a release that grows, which show that of the first one."""
    value = cast(exp.paren(col("value", "d")), item.column.stored_type)
    tree = query(
        "select d.n::float8 / sum(d.n) over () as share from d order by d.code",
        {"d": state.work(sensitive_values(item.index))},
    )
    tree = tree.select(named(value, item.published), *tree.selects, append=False)
    return tree if first_of(spec, item) is None else tree.where(exp.false())


def _subtracted(spec: ReleaseSpec, state: State, item: Sensitive) -> exp.Select:
    """SELECT withheld, missed: suppressed records, and requirements violated by them as a class."""
    tables = {part: state.stage(part) for part in ("records", "reference")}
    remainder = query(
        "select 1 as class_id, f.value, f.n - coalesce(p.n, 0) as n from f left join p"
        " on p.value = f.value where f.n > coalesce(p.n, 0)",
        {"f": source_counts(item, tables), "p": released_counts(item, tables)},
    )
    missed = [
        query(
            "select w.failing from w", {"w": r.model.worst(_measured(r, item, remainder, tables))}
        )
        for r in spec.measured
        if r.sensitive in (None, item.index)
    ]
    total: exp.Expr = num(0)
    for one in missed:
        total = exp.Add(this=total, expression=scalar(one))
    return query(
        "select coalesce(sum(l.n), 0)::bigint as withheld, (:missed)::bigint as missed from l",
        {"l": remainder},
        missed=total,
    )


def _measured(
    requirement: Requirement, item: Sensitive, histogram: exp.Select, tables: Tables
) -> exp.Select:
    model = requirement.model
    against: Relation | None = None
    if model.needs_reference:
        against = with_shares(item, source_counts(item, tables))
    return model.measure(histogram, ["class_id"], against)


def _disclosed(spec: ReleaseSpec, row: Mapping[str, Any], failed: int) -> PrivacyRefusal | None:
    if not row["missed"] and not failed:
        return None
    option = spec.policy.method.keeps_more
    instead = f", which {option} may do" if option else ""
    why = "which as a class would violate the requirements"
    if not row["missed"]:
        why = f"and {failed} of them are left out for what they are"
    return PrivacyRefusal(
        f"suppressed records would be disclosed by subtraction ({row['withheld']} records): the"
        f" published distribution of the source less that of the release is theirs, {why}",
        hint=f"suppress no records{instead}, or leave out publish.reference",
        code=ErrorCode.DISCLOSED_BY_SUBTRACTION,
    )


# -- distributions --------------------------------------------------------------------------------


def stored_reference(spec: ReleaseSpec, state: State) -> exp.Expr:
    """(attribute, value, position, n [, path]): the source's distribution, values as text keys.

    `path` has the keys of a value's ancestors if the column has a hierarchy, so that distances can
    be measured again from the stored relations. Of new individuals it is that of the first version,
    with `published_n` of its records, and has the new values in their places.
    """
    items = referenced(spec)
    parts: list[exp.Select] = []
    for item in items:
        first = first_of(spec, item) is not None
        tree = query(
            "select :number::smallint as attribute, :value as value, x.code as position from x",
            {"x": state.work(sensitive_values(item.index))},
            number=num(item.index),
            value=text_key(col("value", "x")),
        )
        counts = [named(col("source_n", "x"), "n"), col("published_n", "x")]
        tree = tree.select(*(counts if first else [col("n", "x")]))
        if item.hierarchy is not None:
            tree = with_paths(tree, item, state)
        elif any(other.hierarchy is not None for other in items):
            tree = tree.select(named(fragment("null::integer[]"), "path"))
        parts.append(tree)
    return union_all(parts)


def against(spec: ReleaseSpec, kind: str) -> str:
    """Name of the distribution that classes are compared with, the same in all increments."""
    grows = kind and spec.policy.refresh == "increments"
    return f"first version's {kind}" if grows else kind


def source_counts(item: Sensitive, tables: Tables, counts: str = "n") -> exp.Select:
    """SELECT value, position, n [, path] of the source, from the stored reference."""
    path = [] if item.hierarchy is None else ["path"]
    number = col("n", "f") if counts == "n" else named(col(counts, "f"), "n")
    return query(
        "select f.value, f.position from reference as f where f.attribute = :a",
        dict(tables),
        a=num(item.index),
    ).select(number, *[col(name, "f") for name in path])


def released_counts(item: Sensitive, tables: Tables) -> exp.Select:
    """SELECT value, n of what is published."""
    return value_histogram(tables["records"], {}, [item])


def with_shares(item: Sensitive, counted: exp.Select) -> exp.Select:
    """SELECT value, position, share [, path] from counts."""
    path = [] if item.hierarchy is None else ["path"]
    return query(
        "select x.value, x.position, x.n::float8 / sum(x.n) over () as share from x",
        {"x": counted},
    ).select(*[col(name, "x") for name in path])


# -- verification and view ------------------------------------------------------------------------


MESSAGES = {
    REFERENCE: "The published distribution in {column} is that of the records.",
    FIRST: "The distribution in {column} that is compared with is that of the first version.",
}


def reference_checks(spec: ReleaseSpec, tables: Tables) -> list[CheckQuery]:
    """Checks that the distributions which classes are compared with are the right ones.

    Of new individuals those of the first version, else the one that is published, if one is.
    """
    firsts = [item for item in referenced(spec) if first_of(spec, item) is not None]
    if firsts:
        return [_first_check(spec, item, tables) for item in firsts]
    item = published(spec)
    if item is None:
        return []
    shown = query(
        "select :value as value, s.share from shares as s",
        dict(tables),
        value=value_key(item, "s"),
    )
    counted = query(
        "select count(*) as measured from f full join s on s.value = f.value"
        " where s.share is distinct from f.share",
        {"f": with_shares(item, source_counts(item, tables)), "s": shown},
    )
    return [violations_check(REFERENCE, counted, item.column.name)]


def _first_check(spec: ReleaseSpec, item: Sensitive, tables: Tables) -> CheckQuery:
    """Where nobody of the first version has a value, both numbers are 0."""
    held = query(
        "select f.value, f.n as source_n, f.published_n from reference as f where f.attribute = :a",
        dict(tables),
        a=num(item.index),
    )
    counted = query(
        "select count(*) as measured from h full join f on f.value = h.value"
        " where h.source_n is distinct from coalesce(f.source_n, 0)"
        " or h.published_n is distinct from coalesce(f.published_n, 0)",
        {"h": held, "f": first_counts(spec, item)},
    )
    return violations_check(FIRST, counted, item.column.name)


def reference_views(spec: ReleaseSpec, tables: Tables) -> list[PublishedView]:
    item = published(spec)
    if item is None:
        return []
    tree = query("select 1 from shares as s", dict(tables))
    tree = tree.select(col(item.published, "s"), col(SHARE, "s"), append=False)
    return [
        PublishedView(
            name=spec.view_of(REFERENCE),
            select=render(tree),
            columns=(
                ViewColumn(item.published, item.column.stored_type, "Sensitive value."),
                ViewColumn(SHARE, "double precision", "Share of the records of the source."),
            ),
            comment=f"The distribution of the source that the classes of {spec.view} are held"
            " against.",
        )
    ]
