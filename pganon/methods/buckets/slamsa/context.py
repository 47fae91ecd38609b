"""What the steps of SLAMSA read: its tables of columns, and strata of records.

    judged   (rid, stratum, c<i>, s<j>, t<j>)   every record; t<j> is the row of a sensitive table

The association matrix of the quasi-identifiers is observed where the policy does not list the
tables that they are divided among. To the records of a stratum the same exclusion rules apply.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from pganon.encode.work import CODED
from pganon.error_codes import ErrorCode
from pganon.errors import PganonError, PreconditionError
from pganon.methods.buckets.exclusions import (
    When,
    applies_to_codes,
    conditions,
    excluded,
    occurrence_steps,
)
from pganon.methods.buckets.slamsa.options import Slamsa
from pganon.methods.common.arrangement import Arrangement, arranged
from pganon.methods.common.association import association, quasi_columns
from pganon.methods.common.context import MethodContext
from pganon.methods.common.division import (
    divided,
    division_steps,
    sensitive_static,
    sensitive_tables,
    undecided,
)
from pganon.methods.common.eligibility import ALL, Eligibility, Frequency, combination_number
from pganon.privacy.frequency import FrequencyLDiversity
from pganon.resolved.model import ExclusionRule, ReleaseSpec
from pganon.sqltools import col, named, query
from pganon.steps import Check, State, Step, table
from pganon.steps.facts import count, label, or_null

WORTHWHILE = 50_000
"""Most records that `optimizer: auto` searches with fireflies; its time is linear in them."""


@dataclass(frozen=True)
class SlamsaContext(MethodContext[Slamsa]):
    """A release with SLAMSA."""

    kind = Slamsa

    @property
    def aligned(self) -> bool:
        return self.options.profile == "aligned"

    @property
    def public(self) -> bool:
        """Whether blocks follow from published relations: `division: public`."""
        return self.options.division == "public"

    @property
    def minimum_size(self) -> int:
        """Fewest records of a bucket."""
        return self.spec.minimum_size

    @property
    def distinct(self) -> bool:
        """Whether all values of a bucket differ in every column, as m-invariance needs."""
        return self.spec.invariant

    @property
    def of_columns(self) -> list[Frequency]:
        """Conditions on single columns, the strictest of each.

        Where all values of a bucket differ, every column has the strictest condition of all.
        """
        if self.distinct:
            return [self.frequency(item.index, self.l) for item in self.spec.sensitive]
        strictest = sorted(self.strictest.items())
        return [self.frequency(i, l) for i, l in strictest]  # noqa: E741

    @property
    def of_tables(self) -> int | None:
        """The l that whole sensitive tables must have, None if it is not asked for."""
        return max(
            (
                requirement.model.l
                for requirement in self.spec.requirements
                if requirement.sensitive is None
                and isinstance(requirement.model, FrequencyLDiversity)
            ),
            default=None,
        )

    def swarm(self, released: int) -> bool:
        """Whether fireflies search in addition to the median tree, with so many records."""
        optimizer = self.options.optimizer
        return optimizer == "firefly" or (optimizer == "auto" and released <= WORTHWHILE)


_ASSOCIATION = or_null(label("quasi_association"))


def arrangement(spec: ReleaseSpec, state: State) -> Arrangement:
    """The tables of a release; columns are in the order of the policy until they are associated."""
    context = SlamsaContext(spec)
    options = context.options
    return arranged(
        spec,
        divided(
            options.quasi_tables, spec.attributes, state.facts.get(_ASSOCIATION), options.clustering
        ),
        sensitive_tables(spec, state),
        sliced=options.quasi_tables != 1,
        aligned=context.aligned,
        counterfeits=spec.invariant,
    )


def static_columns(spec: ReleaseSpec) -> bool:
    """Whether the policy alone decides the tables of the columns."""
    return sensitive_static(spec) and not _quasi_undecided(SlamsaContext(spec))


def _quasi_undecided(context: SlamsaContext) -> bool:
    return undecided(context.options.quasi_tables, len(context.spec.attributes))


def column_steps(context: SlamsaContext) -> list[Step]:
    """Steps that observe associations, where the policy does not list the tables of columns."""
    steps = division_steps(
        context.spec,
        independent=not context.aligned,
        hint="use profile: aligned, or list them in one of sensitive_tables",
    )
    measure = context.options.association
    if _quasi_undecided(context):
        steps.append(
            Check(
                "quasi_association",
                "how much quasi-identifiers have to do with each other",
                lambda s: query(
                    "select a.association as quasi_association from a",
                    {"a": association(s.work(CODED), quasi_columns(context.spec, s), measure)},
                ),
                gives=[_ASSOCIATION],
            )
        )
    return steps


def eligibility(context: SlamsaContext) -> Eligibility:
    """The eligibility of the records in every stratum."""
    strictest = [context.strictest.get(item.index) for item in context.spec.sensitive]
    raised = context.distinct and set(strictest) != {context.l}
    table = "the table; with refresh: invariant the largest l is that of all columns"
    labels = "; ".join(dict.fromkeys(rule.label for rule in context.spec.rules))
    return Eligibility(
        spec=context.spec,
        first=lambda s: s.work("judged"),
        keep=lambda s: ["stratum", *columns(context, s)],
        conditions=lambda s: frequencies(context, s),
        model="slicing_l_diversity",
        stratum="stratum" if context.spec.rules else None,
        minimum=context.minimum_size,
        among=lambda s: (
            f'a stratum of the exclusion rules "{labels}"' if labels else table if raised else ALL
        ),
    )


def stratum_steps(context: SlamsaContext) -> list[Step]:
    """From the encoded records to `judged`; refuses rules that records violate."""
    return [
        *[_contradiction(rule, number) for number, rule in enumerate(context.spec.rules)],
        *occurrence_steps(context.spec),
        table("judged", "records with what buckets are judged by", lambda s: _coded(context, s)),
    ]


def frequencies(context: SlamsaContext, state: State) -> list[Frequency]:
    """All conditions on the values of a bucket."""
    conditions = context.of_columns
    if context.of_tables is None:
        return conditions
    for number, shown in enumerate(arrangement(context.spec, state).sensitive):
        indexes = tuple(item.index for item in shown.sensitive)
        # A table of one column uses the code of the column.
        name = f"s{indexes[0]}" if len(indexes) == 1 else f"t{number}"
        conditions.append(Frequency(name, indexes, context.of_tables))
    return conditions


def columns(context: SlamsaContext, state: State) -> list[str]:
    """Codes of a record that buckets are made from."""
    return [*context.codes, *dict.fromkeys(f.column for f in frequencies(context, state))]


def _coded(context: SlamsaContext, state: State) -> exp.Expr:
    tree = query("select c.rid from c", {"c": state.work(CODED)})
    # A number per combination of truth values: every condition is true, false or unknown.
    truths = [applies_to_codes(when, state, "c") for when in _conditions(context, state)]
    tree = tree.select(named(combination_number(truths), "stratum"))
    tree = tree.select(*[col(code, "c") for code in context.codes])
    made_from = {f.column: f.columns for f in frequencies(context, state)}
    for name, indexes in made_from.items():
        values = [col(f"s{i}", "c") for i in indexes]
        tree = tree.select(
            values[0] if len(values) == 1 else named(combination_number(values), name)
        )
    return tree


def _conditions(context: SlamsaContext, state: State) -> list[When]:
    """Conditions that are equally true of all records of a stratum.

    Tables of a sliced QIT do not say which values go together. A bucket with one record of the sex
    of a rule and another of its age seems to have a record that the rule is about.
    """
    whole = conditions(context.spec)
    arranged = arrangement(context.spec, state)
    if not arranged.sliced:
        return whole
    parts = [
        tuple((a, condition) for a, condition in when if a in table.attributes)
        for when in whole
        for table in arranged.quasi
    ]
    return list(dict.fromkeys(part for part in parts if part))


def _contradiction(rule: ExclusionRule, number: int) -> Check:
    def select(state: State) -> exp.Expr:
        return query(
            "select count(*) as contradictions from c where :applies and :excluded",
            {"c": state.work(CODED)},
            applies=applies_to_codes(rule.when, state, "c"),
            excluded=excluded(rule, col(f"v{rule.sensitive.index}", "c")),
        )

    def problem(row: Mapping[str, Any], state: State) -> PganonError | None:
        if not row["contradictions"]:
            return None
        return PreconditionError(
            f'{row["contradictions"]} records contradict the exclusion rule "{rule.label}"',
            hint="correct the records or the rule: nobody can rule out what does occur",
            code=ErrorCode.RULE_CONTRADICTED,
        )

    return Check(
        f"rule{number}",
        f"no record contradicts: {rule.label}",
        select,
        problem,
        gives=[count("contradictions", f"rule{number}_")],
    )
