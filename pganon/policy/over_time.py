"""Keys of a policy about releases of the same people over time."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from pganon.policy.hierarchies import Declaration
from pganon.policy.labels import Name, Names, RelationName
from pganon.policy.refusals import known_word, refuse_one


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

    republication: Annotated[Literal["refuse", "warn", "allow"], known_word()] = "refuse"
    refresh: Annotated[Literal["recompute", "increments", "invariant"], known_word()] = "recompute"
    audiences: Annotated[Literal["everybody", "by_reader"], known_word()] = "everybody"
    population: Population | None = None
    aliases: OfPeople | None = None
    exclude: OfPeople | None = None
    increment_size: Annotated[int, Field(ge=1)] | None = None
    regions: Annotated[Literal["none", "leaves"], known_word()] = "none"
    ranges: Annotated[Literal["tight", "region"], known_word()] = "tight"
    leavers: Annotated[Literal["keep", "withdraw"], known_word()] = "keep"
