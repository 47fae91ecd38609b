"""Priors that a relation gives, joined with the combinations of quasi-identifiers that occur.

given_values   (code, value)               every value that it knows, those of the source by
                                           their code, others after them
given          (cell, value, w)            its probabilities
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlglot import exp

from pganon.encode.axis import axes
from pganon.encode.facts import null_code, value_count
from pganon.encode.work import PRIOR, codes_of, sensitive_values
from pganon.error_codes import ErrorCode
from pganon.errors import PganonError, PreconditionError
from pganon.forms.work import QI_CELLS
from pganon.identifiers import quote
from pganon.methods.background.arrays import whole_arrays
from pganon.policy.knowledge import PROBABILITY
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import aliased, col, equal, fragment, named, num, query, scalar
from pganon.steps import Check, DropTables, State, Step, table
from pganon.steps.facts import count, counts

_KNOWN = count("given_values", assumed=40)
"""The highest code of a value."""

SLACK = "0.000001"
"""How far the probabilities of a combination may add up to something else than 1."""


def given_steps(spec: ReleaseSpec) -> list[Step]:
    """From :data:`pganon.encode.work.PRIOR` to `cell_weights`."""
    return [
        Check(
            "priors",
            "whether they are distributions",
            lambda s: _inspection(spec, s),
            lambda row, state: _no_distributions(spec, row),
            gives=counts("rows", "invalid", "repeated", "sums", of="prior_"),
        ),
        table("given_values", "the values that priors are about", lambda s: _values(spec, s)),
        table("given", "the priors of combinations that occur", lambda s: _given(spec, s)),
        Check(
            "covered",
            "whether every combination has a prior",
            lambda s: _uncovered(spec, s),
            lambda row, state: _missing(spec, row),
            gives=[_KNOWN, *counts("missing", "records", of="prior_")],
        ),
        table(
            "cell_weights",
            "weights of the sensitive values in every cell",
            lambda s: whole_arrays(
                s,
                query("select generate_series(1, :n) as code", n=num(s[_KNOWN])),
                query("select g.cell, g.value, g.w from g", {"g": s.work("given")}),
            ),
        ),
        DropTables(
            "tidy",
            "what the relation gave",
            lambda s: [s.work(PRIOR)],
        ),
    ]


def _combination(spec: ReleaseSpec) -> list[str]:
    return [f"q{attribute.index}" for attribute in spec.attributes]


_INSPECTION = """
    select coalesce(sum(g.n), 0)::bigint as rows,
        coalesce(sum(g.invalid), 0)::bigint as invalid,
        coalesce(sum(g.repeated), 0)::bigint as repeated,
        count(*) filter (where abs(g.total - 1) > :slack) as sums
    from g
"""


_BY_VALUE = """
    select count(*) as n, count(*) - 1 as repeated,
        count(*) filter (where (k.probability >= 0 and k.probability < 'Infinity') is not true)
            as invalid,
        sum(k.probability) filter (where k.probability >= 0 and k.probability < 'Infinity')
            as total
    from k
"""
"""NaN is above infinity."""


def _inspection(spec: ReleaseSpec, state: State) -> exp.Expr:
    """Numbers of rows, and of combinations whose valid probabilities do not add up."""
    held = [col(name, "k") for name in _combination(spec)]
    values = query(_BY_VALUE, {"k": state.work(PRIOR)}).select(*held)
    values = values.group_by(*[name.copy() for name in held], col("value", "k"))
    keys = [col(name, "v") for name in _combination(spec)]
    combinations = query(
        "select sum(v.n) as n, sum(v.invalid) as invalid, sum(v.repeated) as repeated,"
        " coalesce(sum(v.total), 0) as total from v",
        {"v": values},
    ).group_by(*keys)
    return query(_INSPECTION, {"g": combinations}, slack=exp.Literal.number(SLACK))


def _no_distributions(spec: ReleaseSpec, row: Mapping[str, Any]) -> PganonError | None:
    relation = _name(spec)
    if not row["rows"]:
        return _refused(f"{relation} has no rows, so there are no priors", "fill it")
    wrong = []
    if row["invalid"]:
        wrong.append(f"{row['invalid']} probabilities are negative, NaN, infinite or NULL")
    if row["repeated"]:
        wrong.append(
            f"{row['repeated']} rows repeat quasi-identifiers and sensitive value of another row"
        )
    if row["sums"]:
        wrong.append(
            f"the probabilities of {row['sums']} combinations of quasi-identifiers add up to less"
            f" or more than 1"
        )
    if not wrong:
        return None
    return _refused(
        f"{relation} does not give probability distributions: {'; '.join(wrong)}",
        f"give every combination one row per value, with a {quote(PROBABILITY)} from 0 to 1",
    )


def _missing(spec: ReleaseSpec, row: Mapping[str, Any]) -> PganonError | None:
    if not row["missing"]:
        return None
    return _refused(
        f"{_name(spec)} has no prior for {row['missing']} combinations of quasi-identifiers,"
        f" which occur in {row['records']} records",
        "add them, or leave the records out with `where`; NULL is looked up as NULL",
    )


def _refused(message: str, hint: str) -> PreconditionError:
    return PreconditionError(message, hint=hint, code=ErrorCode.BAD_PRIORS)


def _name(spec: ReleaseSpec) -> str:
    assert spec.prior is not None
    return str(spec.prior.name)


def _values(spec: ReleaseSpec, state: State) -> exp.Expr:
    (item,) = spec.sensitive
    null = state[null_code(item.index)]
    codes = query(
        "select coalesce(d.code, case when k.value is null and :null > 0 then :null end) as code,"
        " k.value from (select distinct p.value from p) as k left join d on d.value = k.value",
        {"p": state.work(PRIOR), "d": state.work(sensitive_values(item.index))},
        null=num(null),
    )
    return query(
        "select coalesce(f.code, :m + row_number() over (partition by f.code is null"
        " order by f.value))::int as code, f.value from f",
        {"f": codes},
        m=num(state[value_count(item.index)]),
    )


def _given(spec: ReleaseSpec, state: State) -> exp.Expr:
    """Values of quasi-identifiers that occur nowhere are in no combination that does."""
    missing = query("select v.code from v where v.value is null", {"v": state.work("given_values")})
    priors = query(
        # numeric has numbers that are too small for float8
        "select coalesce(v.code, :null) as value, round(k.probability, 40)::float8 as w"
        " from k left join v on v.value = k.value",
        {"k": state.work(PRIOR), "v": state.work("given_values")},
        null=scalar(missing),
    )
    for axis in axes(spec.attributes):
        alias, value = f"d{axis.index}", col(f"q{axis.index}", "k")
        code = fragment("case when :q is null then 0 else :d end", q=value, d=col("code", alias))
        priors = priors.select(named(code, axis.code)).join(
            aliased(axis.dictionary(state), alias),
            on=exp.EQ(this=col("value", alias), expression=value.copy()),
            join_type="left",
        )
    return query(
        "select q.cell, g.value, g.w from g join q on :same",
        {"q": state.work(QI_CELLS), "g": priors},
        same=equal(codes_of(spec), "g", "q"),
    )


def _uncovered(spec: ReleaseSpec, state: State) -> exp.Expr:
    (item,) = spec.sensitive
    highest = query("select max(v.code) from v", {"v": state.work("given_values")})
    return query(
        "select count(*) as missing, coalesce(sum(q.n), 0)::bigint as records,"
        " greatest(:m, :highest) as given_values"
        " from q left join (select distinct g.cell from g) as c on c.cell = q.cell"
        " where c.cell is null",
        {"q": state.work(QI_CELLS), "g": state.work("given")},
        m=num(state[value_count(item.index)]),
        highest=scalar(highest),
    )
