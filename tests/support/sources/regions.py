"""People with quasi-identifiers of every kind, for releases whose groups show their regions."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

from tests.support.oracles.regions import Kind, line, listed, tree

SOURCE = """
CREATE TYPE public.grade AS ENUM ('low', 'middle', 'high');
CREATE TABLE public.person (
    id integer PRIMARY KEY, age integer, height integer NOT NULL, income numeric(9, 2),
    weight double precision, born date, seen timestamp, due timestamptz,
    pain text, grade public.grade, job text, smoker boolean, rank public.grade,
    city text, zip text, visits integer, cost numeric, start date, call timestamp, ward numeric,
    disease text
);
CREATE FUNCTION public.people(first integer, last integer, seed integer)
RETURNS SETOF public.person LANGUAGE sql AS $$
    SELECT n, CASE WHEN h[1] % 9 > 0 THEN h[1] % 70 END, 150 + h[2] % 50,
        CASE WHEN h[3] % 7 > 0 THEN h[3] % 1000 / 8.0 END,
        CASE WHEN h[4] % 7 > 0 THEN (h[4] % 1000)::float8 / 10 END,
        CASE WHEN h[5] % 9 > 0 THEN date '1950-01-01' + h[5] % 20000 END,
        CASE WHEN h[6] % 9 > 0 THEN timestamp '2020-01-01' + h[6] * interval '1 minute' END,
        CASE WHEN h[7] % 9 > 0 THEN timestamptz '2020-01-01 UTC' + h[7] * interval '1 s' END,
        CASE WHEN h[8] % 9 > 0 THEN (ARRAY['none', 'mild', 'bad'])[1 + h[8] % 3] END,
        CASE WHEN h[9] % 9 > 0 THEN (ARRAY['low', 'high'])[1 + h[9] % 2]::public.grade END,
        (ARRAY['cook', 'nurse', 'clerk', 'baker', NULL])[1 + h[10] % 5],
        CASE WHEN h[11] % 9 > 0 THEN h[11] % 2 = 0 END,
        (ARRAY['low', 'high', 'middle'])[1 + h[12] % 3]::public.grade,
        (ARRAY['Rome', 'Oslo', 'Bern', NULL])[1 + h[13] % 4],
        CASE WHEN h[14] % 5 > 0 THEN (10000 + h[14] % 90000)::text END,
        CASE WHEN h[15] % 9 > 0 THEN h[15] % 40 END,
        CASE WHEN h[16] % 9 > 0 THEN h[16] % 1000 / 10.0 END,
        CASE WHEN h[17] % 9 > 0 THEN date '1950-01-01' + h[17] % 20000 END,
        CASE WHEN h[18] % 9 > 0 THEN timestamp '2020-01-01' + h[18] * interval '1 minute' END,
        (ARRAY[1.0, 1.00, 2, 2.50, 2.5, NULL])[1 + h[19] % 6],
        (ARRAY['flu', 'cold', 'HIV'])[1 + h[20] % 3]
    FROM generate_series(first, last) AS n
    CROSS JOIN LATERAL (
        SELECT array_agg(abs(hashint4(n * 31 + i * 7919 + seed) % 1000000) ORDER BY i) AS h
        FROM generate_series(1, 20) AS i
    ) AS r
$$;
"""
_QUASI = {"role": "quasi_identifying"}
JOBS = ["nurse", "cook", "clerk", "baker", "pilot", "judge"]
WARDS = ["1", "2", "2.5", "3"]
PLACES = {"south": ["Rome", "Bern"], "north": ["Oslo", "Kyiv"], "east": ["Riga"]}
_DAY, _MICRO = timedelta(days=1), timedelta(microseconds=1)
_CENT = Decimal("0.001")


def _city(value: str) -> list[str]:
    return [value, next(side for side, names in PLACES.items() if value in names), "any"]


def _zip(value: str) -> list[str]:
    return [value, *[value[:k] + "*" * (len(value) - k) for k in (3, 1)], "*"]


def _zips(values: list[str]) -> list[str]:
    """The known ones, and new ones: within a prefix of 3 or 1, and elsewhere."""
    new = [value[:3] + "##" for value in values] + [value[:1] + "####" for value in values]
    return [*values, *new, "#####"]


KINDS: dict[str, Kind] = {
    "age": line(_QUASI, int, 1, 10**6),
    "height": line({**_QUASI, "domain": [0, 300]}, int, 1, 10**6, (0, 300)),
    "income": line({**_QUASI, "domain": ["-5.125", "1000.5005"]}, Decimal, _CENT, 10**6,
                   (Decimal("-5.125"), Decimal("1000.5005"))),
    "weight": line(_QUASI, Decimal, _CENT, Decimal(10**6)),
    "born": line(_QUASI, date.fromisoformat, _DAY, 10**5 * _DAY),
    "seen": line(_QUASI, datetime.fromisoformat, _MICRO, 10**5 * _DAY),
    "due": line(_QUASI, datetime.fromisoformat, _MICRO, 10**5 * _DAY),
    "pain": listed({**_QUASI, "type": "ordinal", "order": ["none", "mild", "bad", "worst"]},
                   ["none", "mild", "bad", "worst"], ordered=True),
    "grade": listed({**_QUASI, "type": "ordinal"}, ["low", "middle", "high"], ordered=True),
    "job": listed({**_QUASI, "domain": {"values": JOBS}, "nulls": "own_class"}, JOBS),
    "smoker": listed(_QUASI, [False, True]),
    "rank": listed({**_QUASI, "enum": True}, ["low", "middle", "high"]),
    "city": tree({**_QUASI, "hierarchy": {"inline": {"any": PLACES}}}, _city,
                 lambda values: [name for names in PLACES.values() for name in names]),
    "zip": tree({**_QUASI, "hierarchy": {"prefix": [3, 1]}}, _zip, _zips),
    "visits": line({**_QUASI, "hierarchy": {"intervals": [5, 20]}}, lambda t: int(Decimal(t)), 1,
                   10**6),
    "cost": line({**_QUASI, "hierarchy": {"intervals": [10, 50]}}, Decimal, _CENT, 10**6),
    "start": line({**_QUASI, "hierarchy": {"date": ["month", "year"]}}, date.fromisoformat, _DAY,
                  10**5 * _DAY),
    "call": line({**_QUASI, "hierarchy": {"date": ["day", "month"]}}, datetime.fromisoformat,
                 _MICRO, 10**5 * _DAY),
    "ward": listed({**_QUASI, "type": "categorical", "domain": {"values": WARDS}},
                   [Decimal(ward) for ward in WARDS]),
}  # fmt: skip
DISEASE = {"disease": {"role": "sensitive"}}
POLICY: dict[str, Any] = {
    "release": "people",
    "source": "public.person",
    "columns": {name: kind.declared for name, kind in KINDS.items()} | DISEASE,
    "privacy": [{"model": "k_anonymity", "k": 4}],
    "method": {"name": "mondrian"},
    "refresh": "increments",
    "regions": "leaves",
    "ranges": "region",
}


def of(*names: str, **changes: Any) -> dict[str, Any]:
    """The policy with these quasi-identifiers alone."""
    columns = {name: KINDS[name].declared for name in names} | DISEASE
    return {**POLICY, "columns": columns, **changes}


def people(first: int, last: int, seed: int) -> str:
    return f"INSERT INTO public.person SELECT * FROM public.people({first}, {last}, {seed})"
