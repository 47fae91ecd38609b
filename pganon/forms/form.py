"""The interfaces of methods and published forms.

A method makes groups of the encoded records; a form turns groups into staged relations, says how
they are verified from those relations alone, and which views show them. A new method is one
:class:`Method` in :mod:`pganon.methods.registry`; it reuses a form or defines its own.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlglot import exp

from pganon.forms.links import Linked
from pganon.forms.metrics import Metrics
from pganon.forms.request import Request, Restricts
from pganon.forms.sentences import Told, details
from pganon.forms.shape import Histogram, Relations, Shape
from pganon.forms.utility import Utility
from pganon.identifiers import QualifiedName
from pganon.resolved.model import ReleaseSpec
from pganon.resolved.presentation import Form
from pganon.steps import Chains, State, Step
from pganon.steps.facts import Facts
from pganon.steps.relations import CheckQuery, PublishedView, StoredRelation

STRUCTURE = "structure"
"""Name of the check that the relations of a release fit together."""

Tables = dict[str, QualifiedName]
"""Stored or staged relations of a release by part name."""


@dataclass(frozen=True)
class Description:
    """Records that share a published value of every quasi-identifier, as metrics need them.

    Attributes:
        shape: as of a :class:`PublishedForm`.
        members: SELECT group_id, codes `c<i>` and published columns `v<j>`, `p<j>` of every
            encoded record; group_id is NULL for a suppressed one. For the steward's eyes.
    """

    shape: Callable[[ReleaseSpec, State], Shape]
    members: Callable[[ReleaseSpec, State], exp.Select]


@dataclass(frozen=True)
class Whole:
    """How a version that grows is measured as a whole, over the relations of all increments.

    Attributes:
        measures: steps that observe what `utility` reads, from relations by part, and a table
            (group_id, n, loss<i>) with what every group loses. With exact values group numbers may
            repeat, once for every set of groups.
        utility: the figures, from the facts of the run with those of the whole in their place.
        beside: by part, the columns that are read of relations that readers do not see.
        measurable: whether it can be measured in a run that adds groups, or else none.
    """

    measures: Callable[
        [ReleaseSpec, Callable[[State], Relations], Callable[[State], QualifiedName]],
        Sequence[Step],
    ]
    utility: Callable[[ReleaseSpec, Facts], Utility]
    beside: Callable[[ReleaseSpec], Mapping[str, Sequence[str]]] = lambda spec: {}
    measurable: Callable[[ReleaseSpec, bool], bool] = lambda spec, adds: True


@dataclass(frozen=True)
class OnRequest:
    """Metrics that a form can measure on request, beyond the figures of every run.

    Attributes:
        steps: steps that observe them; the relations of `tables` are the staged ones.
        report: the requested metrics, from the facts of the run.
        figures: the class that `report` returns, to read a version's record of it.
        restricts: whether queries restrict a sensitive column where the request does not say.
        classifies: whether models can be trained on what groups show.
    """

    steps: Callable[[ReleaseSpec, Callable[[State], Tables], Request], tuple[Step, ...]]
    report: Callable[[ReleaseSpec, Request, State], Metrics]
    figures: type[Metrics]
    restricts: Restricts = "no"
    classifies: bool = False


@dataclass(frozen=True)
class Evidence:
    """What a report says of a version, for who decides on it; see :mod:`pganon.metrics.evidence`.

    Attributes:
        steps: steps that observe it, after those of the requested metrics, which it is given; the
            relations of `tables` are the staged ones.
        document: the evidence as JSON, from the facts of the run, or those of `whole`.
        whole: steps for a version to which a run adds, over the relations of all increments, after
            those of :class:`Whole`.
        applies: whether a release has it.
    """

    steps: Callable[[ReleaseSpec, Callable[[State], Tables], Sequence[Step]], tuple[Step, ...]]
    document: Callable[[ReleaseSpec, Facts, bool], dict[str, Any]]
    whole: Callable[[ReleaseSpec, Callable[[State], Relations]], Sequence[Step]]
    applies: Callable[[ReleaseSpec], bool] = lambda spec: True


@dataclass(frozen=True)
class Staging:
    """The tables of a release, for the plan that fills them.

    Attributes:
        relations: the tables; parts that views read come first.
        steps: steps that fill them in the staging schema.
    """

    relations: Callable[[ReleaseSpec, State], tuple[StoredRelation, ...]]
    steps: Callable[[ReleaseSpec], tuple[Step, ...]]


@dataclass(frozen=True)
class Verification:
    """Conditions on the tables, for the verification of a run and of stored versions.

    Attributes:
        checks: queries that re-measure the guarantee from these tables alone.
        duplicate_keys: SELECTs of `repeated`, how many rows of a work table have a key again
            although a record is to be looked up there once. Without any, no record is in several
            groups.
        said: sentences of checks that are no requirements, by name or by `name.symbol`; they may
            have `{column}` and `{required}`.
    """

    checks: Callable[[ReleaseSpec, State, Tables], tuple[CheckQuery, ...]]
    duplicate_keys: Callable[[ReleaseSpec, State], Sequence[exp.Select]]
    said: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Publication:
    """Views and texts for readers and the steward, for publication and messages.

    Attributes:
        views: the published views over the tables; the first bears the release's name.
        groups: what people call the groups, in the plural.
        settled: whether the policy alone decides the columns of every view.
        weights: columns of the first view, of which it has one, with the number of records that a
            row stands for; without any a row is a record.
        warnings: what the steward should know of such a release, from the facts of the run.
        stated: further keys of every requirement in the guarantee, which readers find in
            `pganon.guarantees`, from what the run observed.
    """

    views: Callable[[ReleaseSpec, State, Tables], tuple[PublishedView, ...]]
    groups: str
    settled: Callable[[ReleaseSpec], bool] = lambda spec: True
    weights: tuple[str, ...] = ()
    warnings: Callable[[ReleaseSpec, Facts], Sequence[str]] = lambda spec, facts: ()
    stated: Callable[[ReleaseSpec, State], Mapping[str, object]] = lambda spec, state: {}


@dataclass(frozen=True)
class Statistics:
    """Measures of the groups, for the metrics and results of a run.

    Attributes:
        measures: chains of steps that observe the figures of every run.
        utility: these figures, from the facts of the run.
        figures: the class of what `utility` gives, to read a version's record of it.
        whole: how all increments of a version are measured; None where its figures are those of
            the newest.
        histogram: records per value of a sensitive column; None if there is no such column.
        on_request: what can be measured beyond that; None if there is nothing.
        evidence: what a report says of a version; None if that are the figures of every run.
        tells: what it says of these figures in sentences; `members` are people, or records.
        apart: in a sentence, why groups have no people who look the same; empty where they have.
    """

    measures: Callable[[ReleaseSpec], Chains]
    utility: Callable[[ReleaseSpec, Facts], Utility]
    figures: type[Utility]
    whole: Whole | None = None
    histogram: Histogram | None = None
    on_request: OnRequest | None = None
    evidence: Evidence | None = None
    tells: Callable[[Utility, str], Sequence[Told]] = details
    apart: str = ""


@dataclass(frozen=True)
class Linkage:
    """How groups are compared with those of other versions, for the rule over time.

    Attributes:
        linked: how people are linked to values.
        made_by: names of the steps, in the last ones of staging, that make what `linked` reads;
            None where that are all of them.
        shows: how groups are shown, from what the run observed.
    """

    linked: Callable[[ReleaseSpec, State, Tables], Linked]
    made_by: Callable[[ReleaseSpec], Collection[str]] | None = None
    shows: Callable[[ReleaseSpec, State], Form] = lambda spec, state: "classes"


@dataclass(frozen=True)
class PublishedForm:
    """How groups are published, in parts by who reads them.

    What the form looks like may depend on facts that the run observed, such as which columns are
    associated. Before the run, with a state that has no such facts, relations, checks and views
    are as they may become; the number of checks is settled.

    Attributes:
        shape: what readers see.
        linkage: None: nobody can tell what a release discloses beside others of the same people.
    """

    shape: Callable[[ReleaseSpec, State], Shape]
    staging: Staging
    verification: Verification
    publication: Publication
    statistics: Statistics
    linkage: Linkage | None = None
