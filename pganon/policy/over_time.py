"""Keys of a policy about releases of the same people over time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from pganon.policy.hierarchies import Declaration
from pganon.policy.labels import Name, Names, RelationName
from pganon.policy.options import COUNTERFEITS, MethodOptions, part_refusals
from pganon.policy.refusals import Refusal, known_word, refuse_one, show
from pganon.policy.registry import Registry
from pganon.policy.words import NOBODY


class Population(Declaration):
    """People whom several sources are about, under the name that joins their policies.

    Attributes:
        name: the same in every policy about these people.
        key: columns that identify them, as this source has them; else `individual`, else the
            primary key.
        renewed: whether the people of a version may all be others than those of the one before.
    """

    name: Name | None = None
    key: Names = ()
    renewed: bool = False

    @model_validator(mode="after")
    def _says_something(self) -> Population:
        if self.name is None and not self.key and not self.renewed:
            refuse_one("needs name, key or renewed", suggestion="for example {name: patients}")
        return self


class OfPeople(Declaration):
    """A relation about people by their key."""

    relation: RelationName


INCREMENTS = ("increment_size", "regions", "ranges", "leavers")
"""Keys that only `refresh: increments` reads."""


class OverTime(Declaration):
    """Relation of a version to the other versions about the same people.

    Attributes:
        republication: what happens if all versions together show more than the policy allows.
        refresh: whether a version is made anew, from the one before plus groups of new individuals,
            or of groups with the values that their people had.
        audiences: whether everybody is taken to have every version, or roles what they can read.
        aliases: relation with the columns `old` and `new`, of people whose key changed.
        exclude: relation with the key columns of people who are in no version from now on.
        increment_size: new individuals of a region that make an increment.
        regions: whether new individuals are divided as the first version was.
        ranges: whether groups show what they contain, or the region that they are in.
        leavers: whether removed individuals stay in the groups, or their groups are withdrawn.
    """

    republication: Annotated[
        Literal["refuse", "warn", "allow"], known_word("word for republication")
    ] = "refuse"
    refresh: Annotated[
        Literal["recompute", "increments", "invariant"], known_word("word for refresh")
    ] = "recompute"
    audiences: Annotated[Literal["everybody", "by_reader"], known_word("word for audiences")] = (
        "everybody"
    )
    population: Population | None = None
    aliases: OfPeople | None = None
    exclude: OfPeople | None = None
    increment_size: Annotated[int, Field(ge=1)] | None = None
    regions: Annotated[Literal["none", "leaves"], known_word("word for regions")] = "none"
    ranges: Annotated[Literal["tight", "region"], known_word("word for ranges")] = "tight"
    leavers: Annotated[Literal["keep", "withdraw"], known_word("word for leavers")] = "keep"


def over_time_refusals(
    registry: Registry, given: Mapping[str, Any], method: MethodOptions | None
) -> Iterable[Refusal]:
    """Keys that have no effect; `given` may be input that was not checked."""
    yield from _key_refusals(given)
    if given.get("refresh") == "invariant":
        yield from _invariant_refusals(registry, given, method)
    for key in INCREMENTS:
        default = OverTime.model_fields[key].default
        if given.get(key, default) == default:
            continue
        if given.get("refresh") != "increments":
            yield Refusal(
                (key,),
                f"{key} is for refresh: increments; this policy has refresh:"
                f" {show(given.get('refresh', 'recompute'))}",
                f"remove {key}, or write refresh: increments",
            )
        elif key == "ranges" and given.get("regions", "none") != "leaves":
            yield Refusal(
                (key,),
                f"{key}: {given[key]} shows the regions that the cuts of a first version make; this"
                " policy has regions: none",
                "write regions: leaves, or ranges: tight",
            )


_UNKEPT = (
    ("exclusions", (), "takes every value of a group for as likely; an exclusion rules some out"),
    ("records_per_individual", "one", "keeps the value of a person, who can have only one record"),
    ("audiences", "everybody", "holds against readers of all versions"),
)
"""Keys that are what they are by default where people keep their value sets, and why."""


def _invariant_refusals(
    registry: Registry, given: Mapping[str, Any], method: MethodOptions | None
) -> Iterable[Refusal]:
    """Keys that exclude value sets which people keep, or groups with the same values again."""
    yield from registry.unsupported(method, "invariant", ("refresh",))
    if method is not None:
        yield from method.key_refusals({}, {"refresh": "invariant"})
    for key, default, why in _UNKEPT:
        if (given.get(key) or default) != default:
            hint = f"remove {key}, or write refresh: recompute"
            yield Refusal((key,), f"refresh: invariant {why}", hint)
    models = given.get("privacy")
    for i, model in enumerate(models if isinstance(models, list | tuple) else ()):
        said = model if isinstance(model, Mapping) else getattr(model, "__dict__", {})
        if said.get("level") == "tuple":
            yield Refusal(
                ("privacy", i, "level"),
                "refresh: invariant keeps the values of every column different, which level: tuple"
                " does not promise of any",
                "write level: unique",
            )
        if said.get("min_size") not in (None, 1):
            yield Refusal(
                ("privacy", i, "min_size"),
                "groups become smaller when people leave; refresh: invariant keeps their values,"
                " not their records",
                "remove min_size; every group has at least l values",
            )
    yield from part_refusals(given.get("release"), COUNTERFEITS)


def _key_refusals(given: Mapping[str, Any]) -> Iterable[Refusal]:
    """A population has the key of the individuals, which is never published."""
    population, columns = given.get("population"), given.get("columns")
    if not isinstance(population, Population) or not isinstance(columns, Mapping):
        return
    roles = {name: getattr(column, "role", None) for name, column in columns.items()}
    declared = given.get("individual") or [n for n, role in roles.items() if role == "individual"]
    individual = (declared,) if isinstance(declared, str) else tuple(declared)
    if population.key and declared == NOBODY:
        yield Refusal(
            ("individual",),
            f"is {NOBODY}, but people of the population have the key"
            f" {', '.join(map(show, population.key))}",
            "remove one of the two",
        )
        return
    if population.key and individual and population.key != individual:
        yield Refusal(
            ("population", "key"),
            f"is {', '.join(map(show, population.key))}, but individuals are told apart by"
            f" {', '.join(map(show, individual))}",
            "leave key out",
        )
    for name in population.key:
        if roles.get(name, "identifying") not in ("identifying", "individual"):
            yield Refusal(
                ("population", "key"),
                f"column {show(name)} has the role {roles[name]}; a key is never published",
                "name an identifying column",
            )
