"""The guarantee of an anatomized release, measured only from its published relations.

If all tables have the same partition, the share of a value in a bucket bounds the posterior of a
reader for any member. This includes readers who know which sensitive values occur together, since
permuting the members of a bucket turns every possible world into another. With independent
partitions it is only true against readers without this knowledge.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from pganon.forms.form import STRUCTURE
from pganon.forms.shape import PublishedRelation, Relations, value_histogram
from pganon.identifiers import QualifiedName
from pganon.methods.buckets.exclusions import applies, excluded
from pganon.methods.common.arrangement import Arrangement
from pganon.methods.common.form.checks import counted, offending_check, requirement_check, unequal
from pganon.policy.options import CLASS_ID, COUNTERFEITS, GROUP_ID
from pganon.privacy.base import Requirement
from pganon.privacy.frequency import KAnonymity
from pganon.resolved.model import ExclusionRule, ReleaseSpec, Sensitive
from pganon.sqltools import col, named, num, query, stacked
from pganon.steps.relations import CheckQuery

EXCLUSION = "exclusion"
"""Name of the check that no bucket has a value that a rule excludes for some of its records."""


DIFFERENT = "different"
"""Name of the check that all values of a bucket are different, under m-invariance."""


MESSAGES = {
    DIFFERENT: "No bucket has a value in {column} twice.",
    EXCLUSION: "No bucket has a value in {column} that the policy excludes for one of its records.",
}


def checks(
    spec: ReleaseSpec, arrangement: Arrangement, tables: Relations
) -> tuple[CheckQuery, ...]:
    """Queries that re-measure every requirement, only from the relations in `tables`."""
    # Buckets that do not have the same number of records in every relation.
    linking = arrangement.linking
    pairs = [
        (_held(arrangement, tables, table.link), counted(table, GROUP_ID, tables))
        for table in arrangement.sensitive
    ]
    pairs += [
        (counted(linking, GROUP_ID, tables), counted(table, GROUP_ID, tables))
        for table in arrangement.quasi[:-1]
    ]
    return (
        offending_check(STRUCTURE, None, stacked([unequal(one, other) for one, other in pairs])),
        *(
            [
                offending_check(DIFFERENT, item.published, _repeated(arrangement, tables, item))
                for item in spec.sensitive
            ]
            if arrangement.counterfeits
            else []
        ),
        *[_required(spec, r, arrangement, tables) for r in spec.requirements],
        *[
            offending_check(
                EXCLUSION, rule.sensitive.published, _forbidden(rule, arrangement, tables)
            )
            for rule in spec.rules
        ],
    )


# -- structure --------------------------------------------------------------------------------


def _held(arrangement: Arrangement, tables: Relations, partition: str) -> exp.Select:
    """(number, n, least) with the number of values that a bucket must have, counterfeits included.

    A bucket without any records is broken, too.
    """
    records = counted(arrangement.linking, partition, tables)
    if not arrangement.counterfeits:
        return records
    nobody = query(
        "select c.group_id as number, sum(c.count) as n, min(coalesce(c.count, 0)) as least from c"
        " group by c.group_id",
        {"c": tables[COUNTERFEITS]},
    )
    return query(
        "select coalesce(r.number, c.number) as number, coalesce(r.n, 0) + coalesce(c.n, 0) as n,"
        " least(coalesce(r.least, 0), c.least) as least from r full join c on c.number = r.number",
        {"r": records, "c": nobody},
    )


def _repeated(arrangement: Arrangement, tables: Relations, item: Sensitive) -> exp.Select:
    """Rows for values that a bucket has more than once."""
    values = histogram_of(arrangement, tables, item)[1]
    return query("select h.n from h where h.n <> 1 or h.n is null", {"h": values})


# -- requirements -----------------------------------------------------------------------------


def _required(
    spec: ReleaseSpec, requirement: Requirement, arrangement: Arrangement, tables: Relations
) -> CheckQuery:
    model = requirement.model
    if requirement.sensitive is not None:
        item = spec.sensitive[requirement.sensitive]
        by, values = histogram_of(arrangement, tables, item)
    elif isinstance(model, KAnonymity):
        # Records of a class must show the same, too.
        of = _beside(CLASS_ID, arrangement.linking.described)
        by, values = list(of), histogram(tables, arrangement.linking, of, ())
    else:
        by = ["place", GROUP_ID]
        sized = [*arrangement.sensitive]
        if not model.needs_values and arrangement.sliced and not arrangement.aligned:
            sized.append(arrangement.linking)  # its buckets are those of no sensitive table
        parts: list[exp.Select] = []
        for place, table in enumerate(sized):
            items = table.sensitive if model.needs_values else ()
            tree = histogram(tables, table, {GROUP_ID: GROUP_ID}, items)
            parts.append(tree.select(named(num(place), "place")))
        values = stacked(parts)
    return requirement_check(requirement, model.measure(values, by))


def histogram_of(
    arrangement: Arrangement, tables: Relations, item: Sensitive
) -> tuple[list[str], exp.Select]:
    """Key columns of the histogram of a sensitive column, and (key columns, value, n).

    The key is a bucket, or the records of a bucket with equal quasi-identifiers, where the table of
    the column has some.
    """
    table = arrangement.table_of(item.index)
    by = _beside(GROUP_ID, [attribute.published for attribute in table.attributes])
    return list(by), histogram(tables, table, by, [item])


def _beside(number: str, columns: Sequence[str]) -> dict[str, str]:
    """The number of a group and columns of the source, of which one may be called `n`."""
    return {number: number, **{f"shown{place}": name for place, name in enumerate(columns)}}


def histogram(
    tables: Relations, table: PublishedRelation, by: Mapping[str, str], items: Sequence[Sensitive]
) -> exp.Select:
    """(by.., value, n) of a table of the release."""
    return value_histogram(tables[table.part], by, items, table.count)


# -- exclusion rules --------------------------------------------------------------------------


def _forbidden(rule: ExclusionRule, arrangement: Arrangement, tables: Relations) -> exp.Select:
    """Buckets with a record that the rule is about and a value that it excludes.

    The columns of a rule may be in several sliced tables. Then a bucket may have such a record if
    every condition is true for some row, since the tables do not say which rows go together.
    """
    table = arrangement.table_of(rule.sensitive.index)
    tree = query(
        "select distinct :number as number from t where :excluded",
        {"t": tables[table.part]},
        number=col(GROUP_ID, "t"),
        excluded=excluded(rule, col(rule.sensitive.published, "t")),
    )
    tree = query("select v.number from v", {"v": tree})
    for place, possible in enumerate(_possible(rule, table, arrangement, tables)):
        alias = f"x{place}"
        tree = tree.join(
            possible.subquery(alias),
            on=exp.EQ(this=col("number", alias), expression=col("number", "v")),
        )
    return tree


def _possible(
    rule: ExclusionRule, table: PublishedRelation, arrangement: Arrangement, tables: Relations
) -> list[exp.Select]:
    """Per table with columns of the rule: buckets of the sensitive table where it can apply."""
    possible: list[exp.Select] = []
    for quasi in (*arrangement.quasi, table):
        when = tuple((a, condition) for a, condition in rule.when if a in quasi.attributes)
        if not when:
            continue
        possible.append(
            query(
                "select distinct :number as number from t where :applies",
                {"t": _linked(quasi, table, arrangement, tables)},
                number=col(GROUP_ID if quasi.rows == "value" else table.link, "t"),
                applies=applies(when, lambda a: col(a.published, "t")),
            )
        )
    return possible


def _linked(
    quasi: PublishedRelation, table: PublishedRelation, arrangement: Arrangement, tables: Relations
) -> QualifiedName | exp.Select:
    """The relation with the columns of `quasi` and the bucket of the sensitive table."""
    if quasi.rows == "value" or table.link in quasi.groups:
        return tables[quasi.part]
    # Independent partitions over a sliced QIT: only its last table has the other bucket numbers.
    tree = query(
        "select :number from b join q on q.group_id = b.group_id",
        {"b": tables[arrangement.linking.part], "q": tables[quasi.part]},
        number=col(table.link, "b"),
    )
    return tree.select(*[col(attribute.published, "q") for attribute in quasi.attributes])
