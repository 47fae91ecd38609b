"""The rendered plan of a small policy per method, kept as files under `tests/plans/`.

There is a file per phase, and in it each statement once, with the methods that have it. A change of
a statement is a change in one place, which a reviewer sees. After one that is meant,
`python -m tests.support.harness.plans` regenerates them.
"""

from __future__ import annotations

import json
import textwrap
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import sqlglot
from sqlglot import exp

from pganon.loading import load_policy
from pganon.plan.build import Plan
from pganon.plan.explain import explain
from pganon.policy.loader import LoadedPolicy
from pganon.run.context import plan_release
from tests.support.harness.cluster import Database, find_origins

FOLDER = Path(__file__).parents[2] / "plans"

SOURCE = """
    CREATE TABLE public.visit (
        id integer PRIMARY KEY, person text NOT NULL, age integer NOT NULL, zip text,
        disease text NOT NULL, drug text NOT NULL, cost integer NOT NULL
    );
    INSERT INTO public.visit
    SELECT n, 'p' || n / 2, 20 + n % 7, nullif('Z' || n % 5, 'Z4'), 'd' || n % 6, 'm' || n % 5, n
    FROM generate_series(1, 60) AS n;
    CREATE TABLE public.resident AS
    SELECT v.age, v.zip FROM public.visit AS v CROSS JOIN generate_series(1, 3)
"""

_QUASI = {"age": {"role": "quasi_identifying"}, "zip": {"role": "quasi_identifying"}}
_SETS = {
    "age": {"role": "quasi_sensitive", "set": "person"},
    "zip": {"role": "quasi_sensitive", "set": "place"},
}
_DISEASE = {"disease": {"role": "sensitive"}, "drug": {"role": "identifying"}}
_BOTH = {"disease": {"role": "sensitive"}, "drug": {"role": "sensitive"}}
_TREES = {
    "age": {"role": "quasi_identifying", "hierarchy": {"intervals": [5, 10]}},
    "zip": {"role": "quasi_identifying", "hierarchy": {"prefix": [1]}},
}
_PERSON = {"person": {"role": "individual"}}
_SLICED = [
    {"model": "slicing_l_diversity", "column": column, "l": 2} for column in ("disease", "drug")
]
_QS = [{"model": "qs_k_anonymity", "k": 4, "count": "supported"}]
_RESERVED = [{"model": "ir_kl_anonymity", "column": "disease", "k": 2, "l": 2}]

_DECIDED = {
    "age": {"role": "quasi_identifying"},
    "zip": {"role": "semi_sensitive", "sensitive_when": {"predicate": "age < 22"}},
    "disease": {"role": "sensitive"},
}
_LINKED = {
    "age": {"role": "quasi_identifying"},
    "zip": {"role": "semi_sensitive", "sensitive_when": {"predicate": "age < 25"}},
    "drug": {"role": "sensitive"},
    "disease": {"role": "identifying"},
}
"""Every zip has a drug of its own."""
_BACKGROUND = [
    {"model": "k_anonymity", "k": 2},
    {"model": "beta_likeness", "column": "disease", "beta": 3},
    {"model": "background_knowledge", "j": 0.8, "knowledge": {"kernel": {"bandwidth": 0.6}}},
]
_LOCAL = [
    {"model": "k_anonymity", "k": 2},
    {"model": "local_bucket_diversity", "column": "disease", "l": 2},
    {"model": "t_closeness", "column": "zip", "t": 0.3},
]

_PARTS: dict[str, tuple[dict[str, Any], list[dict[str, Any]], dict[str, Any]]] = {
    "one_dimensional": (
        {**_QUASI, **_DISEASE},
        [
            {"model": "k_anonymity", "k": 4},
            {"model": "distinct_l_diversity", "column": "disease", "l": 2},
        ],
        {},
    ),
    "mondrian": (
        {**_QUASI, **_DISEASE},
        [
            {"model": "k_anonymity", "k": 4},
            {"model": "distinct_l_diversity", "column": "disease", "l": 2},
        ],
        {},
    ),
    "full_domain": (
        {**_TREES, **_DISEASE},
        [
            {"model": "k_anonymity", "k": 4},
            {"model": "distinct_l_diversity", "column": "disease", "l": 2},
        ],
        {},
    ),
    "anatomy": (
        {**_QUASI, **_DISEASE},
        [{"model": "anatomy_l_diversity", "column": "disease", "l": 2}],
        {},
    ),
    "slicing": ({**_QUASI, **_DISEASE}, _SLICED[:1], {}),
    "slamsa": ({**_QUASI, **_BOTH}, _SLICED, {}),
    "msb": ({**_QUASI, **_BOTH}, [{"model": "slicing_l_diversity", "l": 2, "level": "unique"}], {}),
    "sloms": (
        {**_QUASI, **_BOTH},
        [
            {"model": "k_anonymity", "k": 2},
            {"model": "slicing_l_diversity", "l": 2, "level": "unique"},
        ],
        {"sensitive_tables": [["disease"], ["drug"]], "link_threshold": 1},
    ),
    "lgb_mdp": (_DECIDED, _LOCAL, {}),
    "lgb_ncp": (
        _LINKED,
        [
            {"model": "k_anonymity", "k": 2},
            *[{"model": "local_bucket_diversity", "column": c, "l": 2} for c in ("drug", "zip")],
        ],
        {"buckets": "aligned"},
    ),
    "local_bucketization": (_DECIDED, _LOCAL[1:], {}),
    "local_generalization": (_DECIDED, _LOCAL[:1], {}),
    "beta_primacy": ({**_QUASI, **_DISEASE}, _BACKGROUND, {}),
    "kinc": ({**_QUASI, **_DISEASE}, _BACKGROUND, {}),
    "kagg": ({**_QUASI, **_DISEASE}, _BACKGROUND, {}),
    "kinc_mic": ({**_QUASI, **_DISEASE}, _BACKGROUND, {}),
    "kagg_mic": ({**_QUASI, **_DISEASE}, _BACKGROUND, {}),
    "js_reduce": ({**_QUASI, **_DISEASE}, _BACKGROUND, {}),
    "qs_greedy": ({**_SETS, "disease": {"role": "identifying"}}, _QS, {}),
    "qs_efficient": ({**_SETS, "disease": {"role": "identifying"}}, _QS, {}),
    "danonyir": ({**_QUASI, **_DISEASE, **_PERSON}, _RESERVED, {}),
    "geneir": ({**_TREES, **_DISEASE, **_PERSON}, _RESERVED, {}),
}

METHODS = tuple(_PARTS)
"""All of pganon's own; a test compares."""

_REFERENCES = ("kinc",)
"""Methods whose policy publishes the distribution of the source."""


def policy_of(method: str, models: list[dict[str, Any]] | None = None) -> LoadedPolicy:
    """The policy, perhaps with other models."""
    columns, privacy, options = _PARTS[method]
    person = {} if "person" in columns else {"person": {"role": "identifying"}}
    return load_policy(
        json.dumps(
            {
                "release": "visits",
                "source": "public.visit",
                "columns": {
                    "id": {"role": "identifying"},
                    **person,
                    **columns,
                    "cost": {"role": "insensitive"},
                },
                "privacy": models or privacy,
                "method": {"name": method, **options},
                "trust": ["source_owner"],
                "suppression_limit": 0.5,
                "publish": {"reference": method in _REFERENCES},
            }
        )
    )


@dataclass(frozen=True)
class Block:
    """A step of a plan, as the files have it."""

    phase: str
    head: str
    sql: str


def blocks(plan: Plan, method: str) -> list[Block]:
    """The plan of a method. What is judged beside other versions is the same for all, and long."""
    shown = [s for s in explain(plan) if method == METHODS[0] or s.phase != "guard"]
    return [Block(s.phase, f"{s.phase}.{s.step}: {s.purpose}", _text(s.sql)) for s in shown]


def _text(sql: str) -> str:
    """Without the layout, which takes a line per word."""
    words = " ".join(line.strip() for line in sql.splitlines())
    tight = words.replace("( ", "(").replace(" )", ")")
    return "\n".join(_wrapped(f"{tight};" if tight else ""))


def _wrapped(text: str, indent: str = "") -> list[str]:
    return textwrap.wrap(
        text, 100, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def files(of: dict[str, list[Block]]) -> dict[str, str]:
    """The text of every file, by phase."""
    having: dict[Block, list[str]] = {}
    for method, found in of.items():
        for block in dict.fromkeys(found):
            having.setdefault(block, []).append(method)
    texts: dict[str, list[str]] = {}
    for block in sorted(having, key=lambda block: block.head.partition(":")[0]):
        methods = "all" if having[block] == list(of) else ", ".join(having[block])
        head = [*_wrapped(f"-- {block.head}", "-- "), *_wrapped(f"-- [{methods}]", "-- ")]
        texts.setdefault(block.phase, []).append("\n".join([*head, block.sql]).strip() + "\n")
    return {phase: "\n".join(parts) for phase, parts in texts.items()}


def kept(method: str) -> dict[str, list[str]]:
    """Statements of the method as the files have them, by head."""
    found: dict[str, list[str]] = {}
    for file in sorted(FOLDER.glob("*.sql")):
        for block in file.read_text("utf-8").split("\n\n"):
            comment = [line for line in block.splitlines() if line.startswith("-- ")]
            head, _, methods = " ".join(line[3:] for line in comment).partition(" [")
            names = methods.rstrip("]").split(", ")
            if method in names or names == ["all"]:
                sql = "\n".join(block.strip().splitlines()[len(comment) :])
                found.setdefault(head, []).append(sql)
    return found


def statements(texts: list[str]) -> list[list[exp.Expr | None]]:
    """What they say, however it is laid out."""
    return [sqlglot.parse(text, read="postgres") for text in texts]


def main() -> None:
    server = next(origin.start for origin in find_origins() if origin.start)()
    database = Database(server, server.new_name())
    try:
        server.create_database(database.name, server.template())
        database.source(SOURCE)
        plan = partial(plan_release, dsn=database.dsn())
        of = {method: blocks(plan(policy_of(method)), method) for method in METHODS}
        for phase, text in files(of).items():
            (FOLDER / f"{phase}.sql").write_text(text, "utf-8")
    finally:
        database.close()
        server.close()


if __name__ == "__main__":
    main()
