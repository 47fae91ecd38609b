"""Calls of the measuring functions for one relation."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import psycopg

from pganon import sqlfiles
from pganon.assessment.figures import (
    Assessment,
    ColumnSet,
    Measure,
    QuasiIdentifier,
    Risk,
    Suda,
)
from pganon.catalog.citus import distributed_reads
from pganon.catalog.code import reading
from pganon.catalog.introspect import refuse_own
from pganon.catalog.model import ExternalObjects
from pganon.catalog.roles import numbers
from pganon.error_codes import ErrorCode
from pganon.errors import PreconditionError, UsageError
from pganon.identifiers import NameProblem, QualifiedName, first_few, parse_name
from pganon.install import access, measuring
from pganon.privacy import lookalikes
from pganon.privacy.identity import EIRLDiversity
from pganon.risk.sample import Sample
from pganon.server_errors import translate

Connection = psycopg.Connection[Any]

EIR = EIRLDiversity.name


@dataclass(frozen=True)
class Call:
    """A relation, and what is to be measured of it, on a connection that may read it."""

    conn: Connection
    schema: bytes
    relation: str
    qi: Sequence[str]
    sensitive: Sequence[str]
    individual: str | None
    risk: Mapping[str, Any]

    def run(
        self,
        population: str | None,
        require: dict[str, float],
        recursive_l: int,
        others: bool,
        trust: Sequence[str],
    ) -> Assessment:
        for name, value in require.items():
            if not math.isfinite(value):
                raise UsageError(f"the requirement {name} must be a finite number")
        if EIR in require and (self.individual is None or not self.sensitive):
            raise UsageError(
                "EIR l-diversity needs individuals and a sensitive column",
                hint="give --individual and --sensitive",
            )
        names = [self._name(name) for name in (self.relation, population) if name is not None]
        with self._reading(names, trust):
            return self._measured(names, require, recursive_l, others)

    def sets(self, separation: float, largest: int, trust: Sequence[str]) -> list[QuasiIdentifier]:
        """Minimal sets of the columns, of all where none is named, with that separation."""
        name = self._name(self.relation)
        values: dict[str, Any] = {
            "relation": str(name),
            "separation": str(separation),
            "largest": largest,
        }
        with self._reading([name], trust):
            columns = list(self.qi) or self._fetch("columns", values)[0][0]
            found = self._fetch("quasi_identifiers", {**values, "columns": columns})
        return [
            QuasiIdentifier(tuple(columns), float(distinction), float(separation), minimal)
            for columns, distinction, separation, minimal in found
        ]

    @contextmanager
    def _reading(self, names: Sequence[QualifiedName], trust: Sequence[str]) -> Iterator[None]:
        owner = self._owner(names)
        trusted = numbers(self.conn, [*trust, *owner]).values()
        with reading(self.conn, ExternalObjects(tuple(names)), trusted, option=True, only=True):
            if self._owner(names) != owner:  # now nobody can replace a view
                raise PreconditionError(
                    "a view was replaced at this moment", hint="try again", code=ErrorCode.BUSY
                )
            try:
                yield
            except psycopg.Error as error:
                raise translate(error, reads=[str(name) for name in names]) from None

    def _owner(self, names: Sequence[QualifiedName]) -> list[str]:
        """pganon's owner, where that role's functions run anyway, or only views that run nothing.

        Readers measure what was published without trusting anybody.
        """
        named = self.schema == measuring.INSTALLED
        if named or all(access.is_harmless(self.conn, name) for name in names):
            return [access.installed_owner(self.conn)]
        return []

    def _measured(
        self,
        names: Sequence[QualifiedName],
        require: Mapping[str, float],
        recursive_l: int,
        others: bool,
    ) -> Assessment:
        relation, *population = map(str, names)
        values: dict[str, Any] = {
            "relation": relation,
            "population": next(iter(population), None),
            "qi": list(self.qi),
            "sensitive": list(self.sensitive),
            "individual": self.individual,
            **self.risk,
            "required": json.dumps(require),
            "l": recursive_l,
            "others": others,
        }
        measures = [self._measure(row) for row in self._fetch("assess", values)]
        measures.sort(key=lambda item: item.measure != "k_anonymity")
        risks = [
            Risk(name, size, float(value)) for name, size, value in self._fetch("risk", values)
        ]
        sets = [
            ColumnSet(tuple(columns), float(distinction), float(separation))
            for columns, distinction, separation in self._fetch("distinguishing", values)
        ]
        warnings = [lookalikes.warning(*row) for row in self._fetch("lookalikes", values)]
        return Assessment(
            relation,
            tuple(measures),
            tuple(risks),
            tuple(sets),
            (*warnings, *self._torn(names)),
            suda=self._suda(values, risks),
        )

    def _torn(self, names: Sequence[QualifiedName]) -> Iterator[str]:
        """A warning of tables of Citus, which are not read at one instant."""
        for read in distributed_reads(self.conn, [names]):
            if read.several:
                yield (
                    f"shards of {first_few(list(map(str, read.distributed)))} are read one after"
                    " the other: figures may count a part of a transaction that writes meanwhile"
                )

    def _suda(self, values: Mapping[str, Any], risks: Sequence[Risk]) -> tuple[Suda, ...]:
        size = self.risk["population_size"]
        if self.risk["suda"] is None:
            return ()
        records = next(int(item.value) for item in risks if item.measure == "records")
        Sample.of({1: records}, size)  # refuses a population that is not larger
        found = self._fetch("suda", {**values, "fraction": records / size})
        return tuple(Suda(name, column, most, float(value)) for name, column, most, value in found)

    def _fetch(self, name: str, values: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        text = measuring.moved(sqlfiles.query("assess", name), self.schema)
        return self.conn.execute(text, values).fetchall()

    def _name(self, text: str) -> QualifiedName:
        """The relation, qualified; a bare name is looked up in public."""
        try:
            schema, name = parse_name(text)
        except NameProblem as problem:
            raise UsageError(str(problem)) from None
        full = QualifiedName(schema or "public", name)
        if full.schema != "pg_temp":  # what the session itself made
            refuse_own(full, "relation to measure")
        row = self.conn.execute(
            sqlfiles.query("assess", "relation"), {"name": str(full)}
        ).fetchone()
        if not row or not row[0]:
            raise PreconditionError(
                f"there is no table or view {full}",
                hint="write schema.name; names in mixed case need double quotes",
                code=ErrorCode.RELATION,
            )
        return full

    @staticmethod
    def _measure(row: tuple[Any, ...]) -> Measure:
        name, column, value, required, holds, *violating = row
        return Measure(
            name,
            column,
            float(value),
            None if required is None else float(required),
            holds,
            *violating,
        )
