"""Models and elements of a search of identity reservation, from rows of the server."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from pganon.methods.common.attribute_arrays import attribute_arrays
from pganon.methods.common.block_search import Given
from pganon.methods.common.search.attributes import Nominal, Ordered, Tree, Values
from pganon.methods.common.search.elements import Categorical, Domain, Hierarchical, Numeric
from pganon.methods.individuals.context import IdentityContext
from pganon.methods.individuals.search.classes import Individuals
from pganon.methods.individuals.search.conjunction import Every, Individual
from pganon.methods.individuals.search.models import (
    EIRL,
    IRKL,
    ClassModel,
    IRAlphaBeta,
    eir_alpha_beta,
)
from pganon.privacy import models as declared
from pganon.privacy.declaration import PrivacyModel
from pganon.privacy.requirements import held_models
from pganon.steps import State


def search_models(context: IdentityContext) -> Every:
    places = {item.column.name: place for place, item in enumerate(context.spec.sensitive)}
    return Every(
        tuple(
            (places.get(d.about or "", 0), _search_model(d))
            for d in held_models(context.spec.policy)
        ),
        len(places),
    )


def _search_model(declaration: PrivacyModel) -> ClassModel:
    match declaration:
        case declared.IRKAnonymity():
            return IRKL(declaration.k)
        case declared.IRKLAnonymity():
            return IRKL(declaration.k, declaration.l)
        case declared.EIRLDiversity():
            return EIRL(declaration.l)
        case declared.IRAlphaBetaAnonymity():
            return IRAlphaBeta(_exact(declaration.alpha), _exact(declaration.beta))
        case declared.EIRAlphaBetaAnonymity():
            return eir_alpha_beta(_exact(declaration.alpha), _exact(declaration.beta))
        case _:
            raise TypeError(f"not a model of identity reservation: {declaration.model}")


def _exact(share: float) -> Fraction:
    """The share as it was written: 0.57 is 57/100, which no binary number is."""
    return Fraction(str(share))


@dataclass(frozen=True)
class Reader:
    """Reads (lo, hi, [null]) of an ordered attribute or of leaves, sets of codes of a nominal one.

    Codes of a nominal attribute that occur in the rows are numbered anew, so that sets of them are
    small however many values the attribute has.
    """

    values: Values
    nulls: bool

    @property
    def width(self) -> int:
        return 1 if isinstance(self.values, Nominal) else 2 + self.nulls

    def read(self, columns: Sequence[Sequence[Any]]) -> tuple[Domain, np.ndarray]:
        match self.values:
            case Ordered(places=given):
                places = (float("nan"), *given.tolist())
                domain = Numeric(0.0, 1.0, self.nulls)
                low, high = ([places[code or 0] for code in codes] for codes in columns[:2])
                return domain, domain.parts(low, high, columns[2] if self.nulls else None)
            case Tree():
                domain = Hierarchical.of(self.values, nulls=self.nulls)
                nulls = columns[2] if self.nulls else [False] * len(columns[0])
                sets = (
                    {code for code in (lo, hi) if code} | ({0} if null else set())
                    for lo, hi, null in zip(columns[0], columns[1], nulls, strict=True)
                )
                return domain, domain.parts(sets)
            case Nominal(domain=size):
                (sets,) = columns
                held = sorted({code for codes in sets for code in codes})
                numbers = {code: number for number, code in enumerate(held)}
                domain = Categorical(size, len(held))
                return domain, domain.parts([numbers[code] for code in codes] for codes in sets)


def readers_of(context: IdentityContext, state: State, given: Given) -> list[Reader]:
    return [
        Reader(attribute_arrays(axis, state, given), axis.has_null(state)) for axis in context.axes
    ]


def attributes(
    readers: Sequence[Reader], rows: Sequence[Sequence[Any]]
) -> tuple[list[Domain], list[np.ndarray]]:
    """Attributes with the parts of every row, which has the columns of `hull_columns`.

    Parts of different calls cannot be compared.
    """
    columns = list(zip(*rows, strict=True))
    domains: list[Domain] = []
    parts: list[np.ndarray] = []
    at = 0
    for reader in readers:
        domain, part = reader.read(columns[at : at + reader.width])
        domains.append(domain)
        parts.append(part)
        at += reader.width
    return domains, parts


def individuals_of(
    domains: Sequence[Domain], parts: Sequence[np.ndarray], people: Sequence[Individual]
) -> Individuals:
    """Individuals whose records by themselves lose nothing."""
    records = np.array([person.records for person in people])
    base = sum(
        (records * domain.costs(part) for domain, part in zip(domains, parts, strict=True)),
        np.zeros(len(people)),
    )
    return Individuals(parts, people, base)
