"""What every method is tried with: its small policy, with other models, names, types and NULLs.

The policies are those of :mod:`tests.support.harness.plans`, the further models those of
:mod:`tests.support.sources.every_model`; a method that has a policy there needs nothing here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from pganon.loading import load_policy
from pganon.methods.classes.options import OF_RELEASE
from pganon.methods.registry import OWN, methods
from pganon.policy.loader import LoadedPolicy
from tests.support.harness import plans
from tests.support.sources.every_model import EVERY

METHODS = list(OWN)


def family(method: str) -> str:
    return methods()[method].options.__module__.split(".")[2]


FIRST = list({family(name): name for name in METHODS[::-1]}.values())
"""The first method of every family."""

GROWING = [
    name for name in METHODS if plans.policy_of(name).policy.method.admits("refresh", "increments")
]
"""Those that can add groups of new people to a version."""


def document(method: str) -> dict[str, Any]:
    """The small policy of a method, as it is written."""
    return plans.policy_of(method).policy.document()


def loaded(declared: dict[str, Any]) -> LoadedPolicy:
    return load_policy(json.dumps(declared))


# -- models -----------------------------------------------------------------------------------

OF_TABLES = {"event_share": "tests/integration/methods/related/test_related.py"}
"""Models of policies with tables, and where their definitions are tested."""


def further_models() -> list[tuple[str, str]]:
    """Methods with the models that they accept beside those of their small policy.

    Every model with one method of every family that accepts it, in turn: what a model needs is
    computed alike by the methods of a family.
    """
    accepting: dict[tuple[str, str], list[str]] = {}
    for name in METHODS:
        for word in (
            methods()[name].options.models - _words(document(name)["privacy"]) - set(OF_TABLES)
        ):
            accepting.setdefault((family(name), word), []).append(name)
    return [
        (names[number % len(names)], word)
        for number, ((_, word), names) in enumerate(sorted(accepting.items()))
    ]


def with_model(method: str, word: str) -> LoadedPolicy:
    """The small policy with the usual policy of a model.

    Where that is on a column that is not sensitive here: the small policy of another method that
    has the model, and no other that this one does not accept.
    """
    declared, wanted = document(method), EVERY[word][1]
    if wanted and _words(wanted) <= OF_RELEASE and method != "mondrian":
        wanted = [*wanted, {"model": "k_anonymity", "k": 2}]  # these bound no class
    sensitive = [n for n, c in declared["columns"].items() if "sensitive" in c["role"]]
    if all(model.get("column") in (None, *sensitive) for model in wanted):
        return loaded({**declared, "privacy": wanted})
    accepted = methods()[method].options.models
    others = (document(name) for name in METHODS)
    other = next(one for one in others if word in _words(one["privacy"]) <= accepted)
    return loaded({**other, "method": {"name": method}})


def _words(models: list[dict[str, Any]]) -> set[str]:
    return {model["model"] for model in models}


# -- NULLs ------------------------------------------------------------------------------------

NULLS = """
ALTER TABLE public.visit ALTER disease DROP NOT NULL, ALTER drug DROP NOT NULL;
UPDATE public.visit SET disease = NULL WHERE id % 9 = 0;
UPDATE public.visit SET drug = NULL WHERE id % 11 = 0
"""
"""Sensitive values that nobody knows; zip has NULLs already."""


def leaves_out_nulls(method: str) -> LoadedPolicy:
    """Records without a zip are suppressed, unless they hide it."""
    declared = document(method)
    declared["columns"]["zip"]["nulls"] = "suppress"
    return loaded(declared)


def shows_null(policy: dict[str, Any]) -> str:
    """SQL: whether a record has no zip and does not hide that."""
    hides = policy["columns"]["zip"].get("sensitive_when", {}).get("predicate", "false")
    return f"zip IS NULL AND NOT ({hides})"


# -- names and types --------------------------------------------------------------------------

NAMES = {
    "id": "n", "person": "'; --", "age": "select", "zip": 'x"; drop table t; --',
    "disease": "Dis ease", "drug": "user", "cost": "100%s {0} :c",
}  # fmt: skip
HOSTILE = """
CREATE SCHEMA "My ""x"" Schema";
GRANT USAGE ON SCHEMA "My ""x"" Schema" TO steward;
CREATE TYPE "My ""x"" Schema"."Table" AS ENUM ('d5', 'd3', 'd1', 'd0', 'd2', 'd4');
CREATE DOMAIN "My ""x"" Schema"."integer" AS smallint CHECK (value > 0);
CREATE DOMAIN "My ""x"" Schema".text AS varchar(9);
CREATE TABLE "My ""x"" Schema"."group" AS
SELECT id AS "n", person AS "'; --", age::"My ""x"" Schema"."integer" AS "select",
    zip::"My ""x"" Schema".text AS "x""; drop table t; --",
    disease::"My ""x"" Schema"."Table" AS "Dis ease", drug::varchar AS "user",
    cost::numeric(9, 2) AS "100%s {0} :c"
FROM public.visit;
ALTER TABLE "My ""x"" Schema"."group" ADD PRIMARY KEY (n)
"""
"""To be run after the source of plans: the same records in types and under names of this kind."""

RELEASE = 'The "Visits"'


def hostile(method: str) -> LoadedPolicy:
    declared = _renamed(document(method), NAMES)
    source = '"My ""x"" Schema"."group"'
    return loaded({**declared, "release": RELEASE, "source": source})


OWN_NAMES = ("n", "value", "key0", "grp", "cell", "lo", "h")
"""Columns and tables of the program's statements, by which it must not take those of a source."""


def homonyms(method: str, turn: int) -> tuple[str, LoadedPolicy]:
    """The source under names of that kind, in another order every turn, and a policy over it."""
    names = dict(zip(NAMES, (*OWN_NAMES[turn:], *OWN_NAMES[:turn]), strict=True))
    columns = ", ".join(f"{name} AS {own}" for name, own in names.items())
    declared = _renamed(document(method), names)
    source = f"CREATE TABLE public.homonyms AS SELECT {columns} FROM public.visit"
    return source, loaded({**declared, "source": "public.homonyms"})


def _renamed(part: Any, names: Mapping[str, str]) -> Any:
    if isinstance(part, dict):
        return {
            names.get(key, key): _predicate(value, names)
            if key == "predicate"
            else _renamed(value, names)
            for key, value in part.items()
        }
    if isinstance(part, list):
        return [_renamed(one, names) for one in part]
    return names.get(part, part) if isinstance(part, str) else part


def _predicate(text: str, names: Mapping[str, str]) -> str:
    return re.sub(r"\bage\b", f'"{names["age"]}"', text)
