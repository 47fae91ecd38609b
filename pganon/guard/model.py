"""The memory of a population before and after a version, and what the version promises."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import PlainSerializer, PlainValidator

from pganon.guard.rules import Rule, rule_of
from pganon.identifiers import QualifiedName
from pganon.steps import State

Floor = tuple[Rule, ...]
"""The rules of all versions that some people were in."""


def floors_to_json(floors: tuple[Floor, ...]) -> list[list[dict[str, Any]]]:
    """Lists of objects that :func:`floors_of` reads."""
    return [[rule.to_json() for rule in floor] for floor in floors]


def floors_of(kept: list[list[dict[str, Any]]]) -> tuple[Floor, ...]:
    return tuple(tuple(rule_of(rule) for rule in floor) for floor in kept)


ROUNDS = 3
"""Most rounds of propagation that a version takes."""


NEVER: tuple[str, ...] = ()
"""Instead of the columns whose value sets are kept: there can be none."""


@dataclass(frozen=True)
class Memory:
    """What is remembered of a population, for one audience.

    Attributes:
        columns: names of the remembered columns, in the order of `cell.peak` and `cell.past`;
            `value.col` and the marks of `person` count them from 1.
        floors: sets of rules; `cell.floor` counts them from 1.
        person: `person` uuid, `cell` integer, `mark1`, `mark2`, .. bigint.
        cell: `cell` integer, `size` bigint, `seen` boolean, `peak` bigint[], `past` bigint[],
            `past_own` bigint[], `value_set` uuid, `floor` integer.
        value: bounds by cell and column; values are those of :mod:`pganon.guard.keys`. See
            :mod:`pganon.guard.packed`.
        own: tables, together the own values of cells of which the bounds do not say them. Of one
            that has no row here either they are not known.
        kept: the columns of which all versions that published any kept the value sets, together, if
            there are such; `cell.value_set` is of these. :data:`NEVER` where nobody knows what
            earlier versions published.
        sets: `value_set` uuid, `value` text: the values of every set, of several columns vectors.
        marked_apart: whether `person` is as said above; in a memory from before one array, `marks`,
            has the marks of all columns.
        packed: whether `value` and `own` are as said above; in a memory from before, a row is of
            one value: `cell`, `col`, `value`, `own`, and in `value` also `at_least` and `at_most`.
            There `own` is NULL where it is in the tables :attr:`own`, or not known.
    """

    columns: tuple[str, ...]
    floors: Annotated[tuple[Floor, ...], PlainSerializer(floors_to_json), PlainValidator(floors_of)]
    person: QualifiedName
    cell: QualifiedName
    value: QualifiedName
    own: tuple[QualifiedName, ...] = ()
    kept: tuple[str, ...] | None = None
    sets: QualifiedName | None = None
    marked_apart: bool = True
    packed: bool = True

    @property
    def tables(self) -> tuple[QualifiedName, ...]:
        """All that it is stored in."""
        sets = () if self.sets is None else (self.sets,)
        return (self.person, self.cell, self.value, *self.own, *sets)


@dataclass(frozen=True)
class Version:
    """What a run is about to add to a memory.

    Attributes:
        columns: the remembered columns after it; those of the memory come first.
        published: those of them that this version publishes values of.
        rules: what the policy promises of people and columns; see
            :func:`pganon.guard.rules.rules_of`.
        memory: the one before; None for the first version of a population.
        bounded: those of them whose histograms say how many people have a value at most.
        invariant: columns, by name, of each of which all values of a group are different, and are
            to be those that people were in a group with before; see
            :mod:`pganon.guard.value_sets`.
        distributed: columns whose distribution in the source models can compare with.
        hierarchical: those of them with the ancestors of every value in a hierarchy.
        unknown: whether nobody knows which columns it published.
        several: whether a person may have several records, so that values of a person are a set.
        scattered: whether a person may be in several groups, so that cells are no groups even of
            people of whom nothing else was published.
        republication: refuse, warn or allow.
        strongest: whether cells also keep what their people were promised before.
        rounds: how many rounds of propagation are taken; None: what the policy asks for. A version
            that is replayed takes as many as it took at first.
        part: which work tables are read; see :mod:`pganon.guard.work`.
        number: of this memory among those of the run, for names of staged tables and of facts.
        audience: a role that could ever read the versions; empty where these are all versions.
        independent: which rules are judged here: those that hold only for who takes columns to be
            independent, on what versions of the same columns tell; the others; or, None, all.
    """

    columns: tuple[str, ...]
    published: frozenset[str]
    rules: tuple[Rule, ...]
    memory: Memory | None = None
    bounded: frozenset[str] = frozenset()
    invariant: tuple[str, ...] = ()
    unknown: bool = False
    distributed: frozenset[str] = frozenset()
    hierarchical: frozenset[str] = frozenset()
    several: bool = False
    scattered: bool = False
    republication: str = "refuse"
    strongest: bool = True
    rounds: int | None = None
    part: int = 0
    number: int = 0
    audience: str = ""
    independent: bool | None = None

    def judges(self, rule: Rule) -> bool:
        return self.independent is None or self.independent == rule.independent

    @property
    def kept(self) -> tuple[str, ...] | None:
        """:attr:`Memory.kept` after it."""
        known = self.memory.kept if self.memory else None
        if self.unknown or known == NEVER:
            return NEVER
        if known is not None:
            untouched = self.published.isdisjoint(known)
            return known if known == self.invariant or untouched else None
        before = self.memory.columns if self.memory else ()
        return self.invariant if self.invariant and not set(self.invariant) & set(before) else None

    @property
    def kept_numbers(self) -> tuple[int, ...]:
        """The numbers of the columns whose value sets people keep, in the order of a vector."""
        return tuple(self.columns.index(name) + 1 for name in self.kept or ())

    @property
    def keeps_sets(self) -> bool:
        """Whether its own groups are those of :attr:`kept`."""
        return bool(self.kept) and self.invariant == self.kept

    def staged(self, state: State, name: str) -> QualifiedName:
        """A table of the new memory: person, cell, value, own, left or set."""
        return state.stage(f"guard{self.number}_{name}")

    def work(self, state: State, name: str) -> QualifiedName:
        """A work table of this memory."""
        return state.work(f"guard{self.number}_{name}")
