"""Whether columns with independent buckets would disclose each other's values.

A record has the number of a bucket for each of its hidden values. A reader who knows which values
go together can look for the only pair that both buckets allow.
"""

from __future__ import annotations

from itertools import combinations

from sqlglot import exp

from pganon.error_codes import ErrorCode
from pganon.errors import PganonError, PrivacyRefusal
from pganon.identifiers import quote
from pganon.methods.common.association import Associated, association, dependencies
from pganon.methods.common.division import MEASURE
from pganon.methods.local.context import Context
from pganon.methods.local.eligible import hidden_values
from pganon.methods.local.form import facts
from pganon.methods.local.form.shared_buckets import Link, links, sets
from pganon.privacy.frequency import LocalBucketDiversity
from pganon.resolved.model import Sensitive
from pganon.sqltools import cast, col, fragment, named, num, query, scalar, stacked
from pganon.steps import Check, State, Step


def link_steps(context: Context) -> list[Step]:
    """All pairs of columns with buckets in one statement."""
    if len(context.spec.sensitive) < 2:
        return []
    return [
        Check(
            "linked",
            "whether buckets of one column tell of those of another",
            lambda s: _measured(context, s),
            lambda row, state: _problem(context, state),
            gives=[facts.LINKS],
        ),
    ]


def _measured(context: Context, state: State) -> exp.Expr:
    pairs = [_pair(context, *pair, state) for pair in combinations(context.spec.sensitive, 2)]
    return query(
        "select jsonb_agg(jsonb_build_array(x.i, x.j, x.records, x.strength, x.determined)"
        " order by x.i, x.j)::text as links from x",
        {"x": stacked(pairs)},
    )


def _pair(context: Context, one: Sensitive, other: Sensitive, state: State) -> exp.Select:
    """(i, j, records, strength, determined) of the records that hide both values."""
    both = query(
        "select :a as a, :b as b, p.w from p where :a > 0 and :b > 0",
        {"p": hidden_values(state)},
        a=col(f"s{one.index}", "p"),
        b=col(f"s{other.index}", "p"),
    )
    if any(context.layout.withheld(item, state) for item in (one, other)):
        both = both.where(exp.false())
    columns = [
        Associated(item.published, col(name, "t"), cast(col(name, "t"), "float8"))
        if item.column.is_number or item.column.is_time
        else Associated(item.published, col(name, "t"))
        for item, name in zip((one, other), "ab", strict=True)
    ]
    return query("select :i as i, :j as j", i=num(one.index), j=num(other.index)).select(
        named(scalar(query("select coalesce(sum(t.w), 0)::bigint from t", {"t": both})), "records"),
        named(_largest(association(both, columns, MEASURE, weighted=True)), "strength"),
        named(_largest(dependencies(both, columns)), "determined"),
    )


def _largest(pairs: exp.Select) -> exp.Expr:
    """The last number of [i, j, value] in the one JSON text that `pairs` selects, 0 without any."""
    values = query(
        "select max((v.pair ->> 2)::float8) from jsonb_array_elements(:pairs::jsonb) as v(pair)",
        pairs=scalar(pairs),
    )
    return fragment("coalesce(:largest, 0)", largest=scalar(values))


def _problem(context: Context, state: State) -> PganonError | None:
    if context.buckets.aligned:
        # A refusal of shared buckets with distances: they can only bound the share of a value.
        for part in sets(context.layout, state.facts):
            for item in part:
                model = context.layout.principle(item)
                if isinstance(model, LocalBucketDiversity):
                    continue
                others = ", ".join(quote(other.published) for other in part if other != item)
                return PrivacyRefusal(
                    f"column {quote(item.published)} is associated with {others}, and buckets in"
                    f" common cannot keep its {model.name}",
                    model=model.name,
                    required=model.parameter,
                    hint=f"use local_bucket_diversity for {quote(item.published)}, or leave it out",
                    code=ErrorCode.ASSOCIATED,
                )
        return None
    limit = context.buckets.link_threshold
    associated = [x for x in links(context.layout, state.facts) if x.association > limit]
    if not associated:
        return None
    return _associated(max(associated, key=lambda link: link.association), limit)


def _associated(link: Link, limit: float) -> PganonError:
    strength = "one determines the other" if link.determined else f"V = {link.strength:.2f}"
    return PrivacyRefusal(
        f"columns {quote(link.one.published)} and {quote(link.other.published)} are associated"
        f" ({strength}): independent buckets would reveal their values",
        model="local_bucket_diversity",
        required=limit,
        observed=link.association,
        hint="use buckets: aligned, which gives associated columns their buckets in common; or"
        " leave one of them out; a higher link_threshold accepts that who knows which values go"
        " together learns more than 1/l",
        code=ErrorCode.ASSOCIATED,
    )
