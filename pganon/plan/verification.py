"""Verification: the staged relations are measured again, and their records are counted."""

from __future__ import annotations

from collections.abc import Mapping
from threading import Lock
from typing import Any

from psycopg import sql
from sqlglot import exp

from pganon.encode.distribution import beside_source
from pganon.encode.facts import KEPT
from pganon.encode.records import number_of
from pganon.encode.work import CODED
from pganon.error_codes import ErrorCode
from pganon.errors import PganonError, PrivacyRefusal, Unbalanced
from pganon.forms.facts import PUBLISHED, SUPPRESSED
from pganon.forms.form import Tables
from pganon.forms.group_data import relations
from pganon.forms.growing import renewed_parts
from pganon.forms.shape import released
from pganon.identifiers import QualifiedName
from pganon.methods.common.base import Method
from pganon.metrics import alike
from pganon.resolved.increments import all_checks
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import num, query, scalar, stacked
from pganon.steps import Check, Parallel, State, Step
from pganon.steps.facts import RECORDS, Fact, count, counts, digest, measure, or_null
from pganon.steps.relations import CheckQuery

FINGERPRINT = digest("fingerprint")
"""A keyed hash of all staged relations."""


def measured(number: int) -> Fact[float | None]:
    """The worst measure of a query of the verification; None where there are no groups."""
    return or_null(measure("measured", f"verified{number}_"))


def earlier_measured(number: int) -> Fact[float | None]:
    """The same of a query about the increments that a version has already."""
    return or_null(measure("measured", f"earlier{number}_"))


def staged_tables(spec: ReleaseSpec, method: Method, state: State) -> Tables:
    """The staged relations by their part of the release."""
    return {r.part: r.staged for r in relations(spec, method.form, state)}


def verify_step(spec: ReleaseSpec, method: Method) -> Step:
    checks = (
        *verification_checks(spec, method),
        *earlier_checks(spec),
    )
    first = [[fingerprint_check(spec, method)], _balance(spec, method)]
    # Figures come last, so that their errors hide no refusal, but some take long.
    alone = alike.chains(
        spec, method.form.statistics.histogram, lambda s: staged_tables(spec, method, s)
    )
    figures = [*method.form.statistics.measures(spec), *alone]
    chains = [*first, *[[check] for check in checks], *figures]
    early = (0, *range(len(chains) - len(figures), len(chains)))
    return Parallel("checks", "what must hold, and figures", chains, early)


def fingerprint_check(spec: ReleaseSpec, method: Method) -> Check:
    """FINGERPRINT of all relations in order, for the ledger: stored ones that the version goes on
    showing, and staged ones."""

    def select(state: State) -> sql.Composed:
        names = [str(QualifiedName(item["schema"], item["name"])) for item in kept(spec, state)]
        names += [str(r.staged) for r in relations(spec, method.form, state)]
        return sql.SQL(
            "SELECT pganon.fingerprint({}, ARRAY[{}]::pg_catalog.regclass[]) AS fingerprint"
        ).format(sql.Literal(state.run_id), sql.SQL(", ").join(map(sql.Literal, names)))

    return Check("fingerprint", "a keyed hash of the staged relations", select, gives=[FINGERPRINT])


def kept(spec: ReleaseSpec, state: State) -> tuple[dict[str, Any], ...]:
    """Stored tables that the version has from the one before it: part, schema, name, rows."""
    if spec.growth is None:
        return ()
    return spec.growth.shared([part for part, _ in renewed_parts(spec.growth, state)])


_ENCODED = count("encoded", "counted_", assumed=40)


def _balance(spec: ReleaseSpec, method: Method) -> list[Step]:
    """Every record of the snapshot is in one group or in none, and those are the suppressed ones.

    Numbers alone would not do: a record that is there twice may stand for one that is gone.
    """

    apart = beside_source(spec) is not None

    def select(state: State) -> exp.Expr:
        tables = staged_tables(spec, method, state)
        number = number_of(spec, "c")
        counted = query("select :n from c", {"c": state.work(CODED)}, n=number)
        encoded = num(state[_ENCODED]) if apart else scalar(counted)
        return query(
            "select r.published, :in - :out - r.published as unaccounted, :encoded as encoded,"
            " (select sum(m.repeated) from m)::bigint as duplicate_keys from r",
            {
                "r": released(method.form.shape(spec, state), tables),
                "m": stacked(method.form.verification.duplicate_keys(spec, state)),
            },
            **{"in": num(state[RECORDS]), "out": num(state[SUPPRESSED]), "encoded": encoded},
        )

    def problem(row: Mapping[str, Any], state: State) -> PganonError | None:
        records, suppressed = state[RECORDS], state[SUPPRESSED]
        whole = row["unaccounted"] == 0 and 0 <= suppressed < records
        if whole and row["encoded"] == state[KEPT] and row["duplicate_keys"] == 0:
            return None
        return Unbalanced(
            f"{records} records came in, {suppressed} were suppressed and {row['published']}"
            f" staged, {row['duplicate_keys']} more than once; the numbers do not add up"
        )

    # A statement that reads shards passes on whatever other rows it reads.
    encoded = Check(
        "encoded",
        "how many records were encoded",
        lambda state: query("select count(*) as encoded from c", {"c": state.work(CODED)}),
        gives=[_ENCODED],
    )
    balance = Check(
        "balance",
        "every record is released once or suppressed",
        select,
        problem,
        gives=[PUBLISHED, *counts("unaccounted", "encoded", "duplicate_keys")],
    )
    return [encoded, balance] if apart else [balance]


def verification_checks(spec: ReleaseSpec, method: Method) -> tuple[Check, ...]:
    """One Check per query of the form, over the staged relations."""

    rendered: dict[int, tuple[CheckQuery, ...]] = {}
    rendering = Lock()  # checks are rendered side by side

    def queries(state: State) -> tuple[CheckQuery, ...]:
        with rendering:
            if state.run_id not in rendered:
                tables = staged_tables(spec, method, state)
                rendered[state.run_id] = method.form.verification.checks(spec, state, tables)
            return rendered[state.run_id]

    planned = queries(State(0))

    def check(number: int) -> Check:
        first = planned[number]
        return Check(
            f"{first.model}_{number}",
            f"{first.model}{_about(first)}",
            lambda state: sql.SQL(queries(state)[number].sql),  # pyright: ignore
            lambda row, state: verdict(first, row),
            gives=[measured(number), count("failing", f"verified{number}_")],
        )

    return tuple(check(number) for number in range(len(planned)))


def earlier_checks(spec: ReleaseSpec) -> tuple[Check, ...]:
    """One Check per requirement of the increments that the version has already."""
    growth = spec.growth
    if growth is None or not growth.adds:
        return ()

    def check(number: int, found: CheckQuery) -> Check:
        return Check(
            f"earlier_{found.model}_{number}",
            f"{found.model}{_about(found)} in the groups before",
            lambda state: sql.SQL(found.sql),  # pyright: ignore
            lambda row, state: verdict(found, row),
            gives=[earlier_measured(number), count("failing", f"earlier{number}_")],
        )

    return tuple(check(n, found) for n, found in enumerate(all_checks(growth.increments)))


def _about(check: CheckQuery) -> str:
    against = f" against the {check.against} distribution" if check.against else ""
    return f"{f' on {check.column}' if check.column else ''}{against}"


def verdict(check: CheckQuery, row: Mapping[str, Any]) -> PganonError | None:
    """Refusal with the required and the observed value, unless every group holds."""
    if row["failing"] == 0 and row["measured"] is not None:
        return None
    observed = row["measured"]
    on = f" on {check.column}" if check.column else ""
    against = f" (against the {check.against} distribution)" if check.against else ""
    missing = f"{row['failing']} groups of the staged release miss it, the worst measures"
    if check.hint is not None:
        missing = "the staged release measures"
    return PrivacyRefusal(
        f"verification: {check.model}{on} requires {check.symbol} {check.bound}"
        f" {check.parameter:g}{against}; {missing}"
        f" {'nothing' if observed is None else f'{observed:.6g}'}",
        hint=check.hint,
        model=check.model,
        required=check.parameter,
        observed=observed,
        code=ErrorCode.VERIFICATION,
    )
