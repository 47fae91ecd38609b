"""Calls of the measuring functions for one relation."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import combinations
from math import comb
from typing import Any

import psycopg
from psycopg import sql

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
from pganon.catalog.introspect import estimated_rows, read_relation, refuse_own
from pganon.catalog.model import ExternalObjects
from pganon.catalog.roles import numbers
from pganon.catalog.sample import sample
from pganon.error_codes import ErrorCode
from pganon.errors import PreconditionError, Stopped, UsageError
from pganon.identifiers import NameProblem, QualifiedName, first_few, parse_name
from pganon.install import access, measuring
from pganon.privacy import lookalikes
from pganon.privacy.identity import EIRLDiversity
from pganon.risk.sample import Sample
from pganon.risk.uniques import estimates
from pganon.server_errors import translate
from pganon.sqlfiles import Connection, ask
from pganon.sqltools import statement

EIR = EIRLDiversity.name


MOST_SETS = 4_096
"""Sets of columns that are compared."""

_AT_ONCE = 64
_DRAWN = QualifiedName("pg_temp", "pganon_drawn")

Told = Callable[[int, int], None]
"""Called with the number of sets that were tried, and that of all."""


def number_of_sets(columns: int, largest: int) -> int:
    return sum(comb(columns, size) for size in range(1, largest + 1))


def _named(
    found: Sequence[tuple[tuple[int, ...], Decimal, Decimal]], columns: Sequence[str]
) -> list[QuasiIdentifier]:
    """Small sets first, of these the ones that tell most pairs apart."""
    sets = [(tuple(columns[n - 1] for n in numbers), d, s) for numbers, d, s in found]
    sets.sort(key=lambda one: (len(one[0]), -one[2], one[0]))
    return [QuasiIdentifier(names, float(d), float(s), True) for names, d, s in sets]


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

    def sets(
        self, separation: float, largest: int, trust: Sequence[str], rows: int, told: Told
    ) -> list[QuasiIdentifier]:
        """Minimal sets of the columns, of all where none is named, with that separation."""
        name = self._name(self.relation)
        with self._reading([name], trust), self.conn.transaction(force_rollback=True):
            columns = list(self.qi) or self._fetch("columns", {"relation": str(name)})[0][0]
            values: dict[str, Any] = {
                "relation": self._sampled(name, columns, rows),
                "columns": columns,
                "separation": str(separation),
                "largest": largest,
            }
            if 0 < separation <= 1 and 0 < number_of_sets(len(columns), largest) <= MOST_SETS:
                return self._minimal(values, Decimal(str(separation)), told)
            found = self._fetch("quasi_identifiers", values)
        return [
            QuasiIdentifier(tuple(columns), float(distinction), float(separation), minimal)
            for columns, distinction, separation, minimal in found
        ]

    def _sampled(self, name: QualifiedName, columns: Sequence[str], rows: int) -> str:
        """A table with so many of the rows, of a table with more, if the session may make one."""
        if name.schema == _DRAWN.schema:
            return str(name)
        relation = read_relation(self.conn, str(name))
        allowed = ask(self.conn, "catalog", "may_make_temporary").fetchone()
        size = estimated_rows(self.conn, relation)
        known = all(relation.column(column) is not None for column in columns)
        if (
            not known
            or not rows
            or not allowed
            or not allowed[0]
            or (size is not None and size <= rows)
        ):
            return str(name)
        drawn = statement(
            sample(self.conn, relation, dict(zip(columns, columns, strict=True)), rows)
        )
        self.conn.execute(sql.SQL("CREATE TABLE {} AS {}").format(_DRAWN.identifier, drawn))
        return str(_DRAWN)

    def _minimal(
        self, values: Mapping[str, Any], least: Decimal, told: Told
    ) -> list[QuasiIdentifier]:
        """Some sets at a time, the small ones first; none with a part that does.

        Raises:
            Stopped: by the user; it has the sets that no other one will replace.
        """
        columns = values["columns"]
        total, tried = number_of_sets(len(columns), values["largest"]), 0
        found: list[tuple[tuple[int, ...], Decimal, Decimal]] = []
        for size in range(1, min(values["largest"], len(columns)) + 1):
            every = list(combinations(range(1, len(columns) + 1), size))
            known = [set(numbers) for numbers, *_ in found]
            left = [one for one in every if not any(part <= set(one) for part in known)]
            tried += len(every) - len(left)
            told(tried, total)
            for start in range(0, len(left), _AT_ONCE):
                some = left[start : start + _AT_ONCE]
                texts = [f"{{{','.join(map(str, one))}}}" for one in some]
                try:
                    rows = self._fetch("set_figures", {**values, "sets": texts})
                except KeyboardInterrupt as interrupt:
                    missing = f"{total - tried:,} of {total:,} sets were not tried"
                    raise Stopped(interrupt, _named(found, columns), missing) from None
                tried += len(some)
                found += [(tuple(n), d, s) for n, d, s in rows if s >= least]
                told(tried, total)
        return _named(found, columns)

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
        parts = {
            "measures of classes": self._measures,
            "risk": self._risks,
            "population uniques": self._uniques,
            "sets of columns": self._sets,
            "look-alikes": self._lookalikes,
            "SUDA": self._suda,
        }
        found = Assessment(relation, (), (), (), tuple(self._torn(names)))
        for place, part in enumerate(parts.values()):
            try:
                found = part(values, found)
            except KeyboardInterrupt as interrupt:
                if not place:
                    raise
                missing = f"{', '.join(list(parts)[place:])} were not measured"
                raise Stopped(interrupt, found, missing) from None
        return found

    def _measures(self, values: Mapping[str, Any], found: Assessment) -> Assessment:
        measures = [
            Measure(name, column, float(value), None if r is None else float(r), holds, *violating)
            for name, column, value, r, holds, *violating in self._fetch("assess", values)
        ]
        measures.sort(key=lambda item: item.measure != "k_anonymity")
        return replace(found, measures=tuple(measures))

    def _risks(self, values: Mapping[str, Any], found: Assessment) -> Assessment:
        rows = self._fetch("risk", values)
        return replace(found, risks=tuple(Risk(n, size, float(value)) for n, size, value in rows))

    def _uniques(self, values: Mapping[str, Any], found: Assessment) -> Assessment:
        """Estimates of population uniques.

        Raises:
            PreconditionError: a person has several records, or the population is not larger.
        """
        size = self.risk.get("population_size")
        if size is None:
            return found
        risk = {item.measure: item.value for item in found.risks if item.size is None}
        if risk.get("individuals", risk["records"]) < risk["records"]:
            raise PreconditionError(
                f"population uniques cannot be estimated from {found.relation}: individuals have"
                " several records",
                hint="measure a view with one record of each, or leave out the population size",
            )
        sizes = {item.size: int(item.value) for item in found.risks if item.size is not None}
        uniques = estimates(Sample.of(sizes, size))
        return replace(found, population_size=size, population_uniques=uniques)

    def _sets(self, values: Mapping[str, Any], found: Assessment) -> Assessment:
        fitting = [n for n in (3, 2, 1) if number_of_sets(len(self.qi), n) <= MOST_SETS]
        rows = self._fetch("distinguishing", {**values, "largest": fitting[0]})
        sets = tuple(ColumnSet(tuple(names), float(d), float(s)) for names, d, s in rows)
        capped = ()
        if fitting[0] < 3:
            most = "pairs" if fitting[0] == 2 else "single columns"
            capped = (
                f"sets of up to three of {len(self.qi)} quasi-identifiers are"
                f" {number_of_sets(len(self.qi), 3):,}, more than {MOST_SETS:,}: of these only"
                f" {most} were compared; name fewer with --qi",
            )
        return replace(found, sets=sets, warnings=(*capped, *found.warnings))

    def _lookalikes(self, values: Mapping[str, Any], found: Assessment) -> Assessment:
        warnings = [lookalikes.warning(*row) for row in self._fetch("lookalikes", values)]
        return replace(found, warnings=(*warnings, *found.warnings))

    def _torn(self, names: Sequence[QualifiedName]) -> Iterator[str]:
        """A warning of tables of Citus, which are not read at one instant."""
        for read in distributed_reads(self.conn, [names]):
            if read.several:
                yield (
                    f"shards of {first_few(list(map(str, read.distributed)))} are read one after"
                    " the other: figures may count a part of a transaction that writes meanwhile"
                )

    def _suda(self, values: Mapping[str, Any], found: Assessment) -> Assessment:
        if self.risk["suda"] is None:
            return found
        size = self.risk["population_size"]
        if size is None:
            size = self._weights(values, found.relation)
        records = next(int(item.value) for item in found.risks if item.measure == "records")
        Sample.of({1: records}, int(size))  # refuses a population that is not larger
        rows = self._fetch("suda", {**values, "fraction": records / size})
        figures = (Suda(name, column, most, float(value)) for name, column, most, value in rows)
        return replace(found, suda=tuple(figures), suda_population=size)

    def _weights(self, values: Mapping[str, Any], relation: str) -> float:
        """The sum of all weights: people that SUDA takes the relation for a sample of."""
        ((weight,),) = self._fetch("weight_of", values)
        total = sql.SQL("SELECT pg_catalog.sum({})::pg_catalog.float8 FROM {} AS t").format(
            sql.SQL(weight), self._name(relation).identifier
        )
        row = self.conn.execute(total).fetchone()
        assert row is not None
        return row[0]

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
        row = ask(self.conn, "assess", "relation", name=str(full)).fetchone()
        if not row or not row[0]:
            raise PreconditionError(
                f"there is no table or view {full}",
                hint="write schema.name; names in mixed case need double quotes",
                code=ErrorCode.RELATION,
            )
        return full
