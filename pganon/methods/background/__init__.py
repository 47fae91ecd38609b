"""Releases that hold against background knowledge: k, beta-likeness, and priors within J.

"Hierarchical anonymization algorithms against background knowledge attack in data releasing". A
reader may believe beforehand that people with some quasi-identifiers are more likely to have a
value. Records of one class have priors that are near each other, so that beliefs do not disclose
whose the values of a class are; beta-likeness bounds what the class as a whole discloses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from sqlglot import exp

from pganon.encode.curve import along_curve
from pganon.encode.facts import KEPT
from pganon.encode.records import NUMBER
from pganon.encode.work import CODED, sensitive_values
from pganon.error_codes import ErrorCode
from pganon.errors import PrivacyRefusal
from pganon.forms.work import CELL_VECTORS, GROUPED, QI_CELLS, VECTOR_CLUSTERS, VECTORS
from pganon.identifiers import quote
from pganon.methods.background.clusters import link_steps
from pganon.methods.background.context import Context, model_against, source_counts
from pganon.methods.background.eligible_clusters import kept_steps
from pganon.methods.background.form import BACKGROUND, SINGLE
from pganon.methods.background.near_classes import grown_steps
from pganon.methods.background.options import (
    BetaPrimacy,
    JsReduce,
    KAgg,
    KAggMic,
    KInc,
    KIncMic,
)
from pganon.methods.background.prior import prior_steps
from pganon.methods.background.published_distribution import SETTLED, settled_step
from pganon.methods.background.rows import grouped_step
from pganon.methods.background.search.limits import Limits, limits_against
from pganon.methods.background.search.reduce import js_reduce
from pganon.methods.background.value_buckets import drawn_steps
from pganon.methods.common.base import Method
from pganon.methods.common.block_search import Blocks, Given, TaskOf, block_search, grouped_rows
from pganon.methods.common.suppression import suppressed_check
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import aliased, col, equal, num, query
from pganon.steps import Check, Rows, Scope, State, Step, table
from pganon.steps.facts import counts
from pganon.steps.tasks import TaskResult


def reduced_steps(context: Context) -> list[Step]:
    """From the encoded records to `grouped`."""
    options = context.options
    assert isinstance(options, JsReduce)
    return [
        *(prior_steps(context.spec) if context.knowledge else []),
        table(
            "blocked",
            "records along the curve, in blocks",
            lambda s: _blocked(context, s, _blocks(s, options.block_size)),
        ),
        block_search(
            "classes",
            "classes of records with similar priors",
            lambda s: s.work("reduced"),
            (("rid", "bigint"), ("gid", "bigint")),
            blocks=Blocks(
                relation=lambda s: s.work("blocked"),
                columns=lambda s: ["record", "value", "vector", "probabilities"],
                count=lambda s: _blocks(s, options.block_size),
                at_once=lambda s: 1,
            ),
            given=lambda s: source_counts(context, s),
            task=lambda s, given: _task(context, given),
        ),
        settled_step(context, "reduced"),
        grouped_step(context, "reduced", lambda s: s.work(CODED), SETTLED),
    ]


def _blocks(state: State, size: int) -> int:
    return -(-state[KEPT] // size)


def _blocked(context: Context, state: State, blocks: int) -> exp.Expr:
    """(block, rid, record, value, vector, probabilities): rid is the place along the curve."""
    keep = [NUMBER, *context.codes, context.value]
    along = along_curve(context.axes, state, state.work(CODED), keep)
    tree = query(
        "select (a.place - 1) * :blocks / :records as block, a.place as rid, a.rid as record,"
        " :value as value from a",
        {"a": along},
        blocks=num(blocks),
        records=num(state[KEPT]),
        value=col(context.value, "a"),
    )
    if context.knowledge is None:
        return tree.select("0 as vector", "array[1::float8] as probabilities")
    tree = tree.select(col("vector", "v"), col("probabilities", "v"))
    cells = aliased(state.work(QI_CELLS), "q")
    tree = tree.join(cells, on=equal(context.codes, "q", "a"))
    tree = tree.join(aliased(state.work(CELL_VECTORS), "n"), on=equal(["cell"], "n", "q"))
    return tree.join(aliased(state.work(VECTORS), "v"), on=equal(["vector"], "v", "n"))


def _task(context: Context, given: Given) -> TaskOf:
    limits = limits_against(model_against(context, given), np.array(given["source"]))
    j = 1.0 if context.knowledge is None else context.knowledge.j
    return lambda block, rows: partial(_reduce, block, rows, context.k, limits, j)


def _reduce(block: int, rows: Rows, k: int, limits: Limits, j: float) -> TaskResult:
    """One block: rows (block, place, rid, value, vector, probabilities) in the order of places."""
    _, _, rids, values, vectors, probabilities = zip(*rows, strict=True)
    distinct = dict(zip(vectors, probabilities, strict=True))
    places = {vector: place for place, vector in enumerate(distinct)}
    classes = js_reduce(
        np.array([places[vector] for vector in vectors]),
        np.array(list(distinct.values()), dtype=float),
        np.array(values) - 1,
        k,
        limits,
        j,
    )
    groups = [members.tolist() for members in classes.classes]
    return TaskResult(grouped_rows(block, rids, groups))


def constant_check(context: Context) -> Check:
    """Refuses a sensitive column with one value, unless the policy accepts that it is unprotected:
    who is in the release has the value, whatever its classes are."""
    return Check(
        "constant",
        "whether the sensitive column has several values",
        lambda s: query(
            "select count(*) as values from d",
            {"d": s.work(sensitive_values(context.sensitive.index))},
        ),
        lambda row, state: _refused(context, row),
        gives=counts("values", of="sensitive_"),
    )


def _refused(context: Context, row: Mapping[str, Any]) -> PrivacyRefusal | None:
    name = context.sensitive.column.name
    if row["values"] > 1 or context.spec.policy.columns[name].unprotected == "accept":
        return None
    return PrivacyRefusal(
        f"the sensitive column {quote(name)} has the same value in all records, which"
        f" {context.closeness.name} does not protect: everybody in the release has it",
        hint="leave the column out with the role identifying, or accept it with"
        " unprotected: accept",
        code=ErrorCode.CONSTANT,
    )


def drawn(spec: ReleaseSpec) -> tuple[Step, ...]:
    context = Context(spec)
    return _checked(context, [*link_steps(context), *kept_steps(context), *drawn_steps(context)])


def grown(spec: ReleaseSpec) -> tuple[Step, ...]:
    context = Context(spec)
    return _checked(context, [*link_steps(context), *kept_steps(context), *grown_steps(context)])


def reduced(spec: ReleaseSpec) -> tuple[Step, ...]:
    context = Context(spec)
    return _checked(context, reduced_steps(context))


def _checked(context: Context, steps: Sequence[Step]) -> tuple[Step, ...]:
    suppressed = suppressed_check(context.spec, lambda s: s.work(GROUPED))
    kept = [GROUPED, QI_CELLS, VECTORS, CELL_VECTORS, VECTOR_CLUSTERS]
    every = [constant_check(context), *steps, suppressed]
    return (Scope("what the classes were made from", every, keeps=kept),)


BETA_PRIMACY = Method(BetaPrimacy, BACKGROUND, drawn)
KINC = Method(KInc, BACKGROUND, grown)
KAGG = Method(KAgg, BACKGROUND, grown)
KINC_MIC = Method(KIncMic, BACKGROUND, grown)
KAGG_MIC = Method(KAggMic, BACKGROUND, grown)
JS_REDUCE = Method(JsReduce, SINGLE, reduced)
