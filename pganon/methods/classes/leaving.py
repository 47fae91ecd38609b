"""Records left out of classes, within the limit of the policy."""

from __future__ import annotations

from sqlglot import exp

from pganon.encode.work import codes_of
from pganon.forms.facts import SUPPRESSED
from pganon.forms.work import GROUPED
from pganon.methods.classes.cells import surplus_of
from pganon.methods.common.suppression import allowance
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import aliased, col, equal, query
from pganon.steps import State, Step, table
from pganon.steps.facts import RECORDS


def leaves_outliers_out(spec: ReleaseSpec) -> bool:
    """Whether records may be left out for what their classes lose.

    Not where a model is about what is published as a whole, or whom it covers, which leaving out
    changes, nor where the limit is for classes that do not pay, nor from a release that grows,
    whose limit is for people who are in no group.
    """
    compared = any(requirement.model.needs_reference for requirement in spec.requirements)
    whole = compared or bool(spec.of_release or spec.in_population or spec.profits)
    policy = spec.policy
    return policy.suppression_limit > 0 and policy.refresh == "recompute" and not whole


def outliers_allowed(spec: ReleaseSpec, state: State) -> int:
    """How many more records may be left out for what their classes lose.

    The limit may be higher than a release can do without: one class always stays.
    """
    if not leaves_outliers_out(spec):
        return 0
    released = state[RECORDS] - state[SUPPRESSED]
    return max(min(allowance(spec, state), released - spec.minimum_size), 0)


def records_of_cells(spec: ReleaseSpec, cells: str) -> Step:
    """From the cells of classes to their records, of which some may be left out."""
    codes = codes_of(spec)

    def grouped(state: State) -> exp.Select:
        tree = query("select g.gid, r.rid from g", {"g": state.work(cells)})
        records = aliased(surplus_of(spec).kept(state), "r")
        tree = tree.join(records, on=equal(codes, "g", "r"))
        return tree.select(*[col(name, "g") for name in codes])

    return table(GROUPED, "the records of all classes", grouped)
