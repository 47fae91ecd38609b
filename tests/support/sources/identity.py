"""Tables whose individuals have several records, and what is read of releases of them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from psycopg import sql

from tests.support.harness.driver import Staged, fetch
from tests.support.oracles import identity as oracle
from tests.support.oracles.definitions import Intervals, Tree
from tests.support.oracles.identity import Requirement, Row
from tests.support.sources.builders import Connection, make_table, policy

# -- the paper's table ------------------------------------------------------------------------

COLUMNS = {
    "person": "text",
    "gender": "text",
    "age": "integer",
    "postcode": "text",
    "disease": "text",
}
PEOPLE = {
    "Mike": ("M", 36, "10085", ("Hypertension", "Heart")),
    "Lily": ("F", 37, "10076", ("Cancer",)),
    "Tim": ("M", 36, "10086", ("Hypertension",)),
    "Jane": ("F", 33, "10087", ("Hypertension", "Diabetes")),
    "Tina": ("F", 38, "10077", ("HIV",)),
    "Ella": ("F", 34, "10070", ("Leukaemia", "Heart")),
    "Lucy": ("F", 33, "10073", ("Syphilis",)),
}
ROWS = [
    [name, *quasi, disease] for name, (*quasi, diseases) in PEOPLE.items() for disease in diseases
]
QUASI = ("gender", "age", "postcode")
AGES = (30, 39)
"""The domain that the paper declares; there are ages from 33 to 38."""
TABLE_3 = {frozenset({"Lily", "Tina", "Ella", "Lucy"}), frozenset({"Mike", "Tim", "Jane"})}
TABLE_4 = {frozenset({"Jane", "Ella", "Lucy"}), frozenset({"Mike", "Lily", "Tim", "Tina"})}

HIERARCHIES: dict[str, Any] = {
    "gender": {"inline": {"*": ["F", "M"]}},
    "age": {"intervals": [5]},
    "postcode": {
        "inline": {
            "100**": {
                "1007*": ["10070", "10073", "10076", "10077"],
                "1008*": ["10085", "10086", "10087"],
            }
        }
    },
}
TREES = (
    Tree([p[0] for p in PEOPLE.values()], paths={sex: (sex, "*") for sex in "FM"}),
    Intervals([p[1] for p in PEOPLE.values()], widths=[5]),
    Tree(
        [p[2] for p in PEOPLE.values()],
        paths={p[2]: (p[2], p[2][:4] + "*", "100**") for p in PEOPLE.values()},
    ),
)


def eir(l: int) -> dict[str, Any]:  # noqa: E741 (the field's letter)
    return {"model": "eir_l_diversity", "column": "disease", "l": l}


def ir(k: int, l: int) -> dict[str, Any]:  # noqa: E741
    return {"model": "ir_kl_anonymity", "column": "disease", "k": k, "l": l}


def shares(name: str, alpha: float, beta: float) -> dict[str, Any]:
    model = f"{name}_alpha_beta_anonymity"
    return {"model": model, "column": "disease", "alpha": alpha, "beta": beta}


def of_paper(
    *requirements: Requirement, hierarchies: bool = False, domain: bool = False, **options: Any
) -> dict[str, Any]:
    """A policy over the paper's table; with the hierarchies of its baseline if asked for, or with
    the domain that the paper has for ages."""
    columns: dict[str, Any] = {"person": "individual", "disease": "s"}
    for name in QUASI:
        columns[name] = {"hierarchy": HIERARCHIES[name]} if hierarchies else "q"
    if domain:
        columns["age"] = {"domain": list(AGES)}
    others = {key: options.pop(key) for key in ("suppression_limit", "publish") if key in options}
    method = {"name": "danonyir", **options}
    return policy(columns, [dict(r) for r in requirements], method=method, **others)


def build(source: Connection, rows: Sequence[Sequence[Any]] = ROWS) -> None:
    make_table(source, COLUMNS, rows)


def drawn_sequence(staged: Staged) -> list[int]:
    """Which hierarchy went up at every step of GeneIR."""
    name = staged.state.work("sequence").identifier
    rows = fetch(staged.conn, sql.SQL("SELECT attribute FROM {} ORDER BY step").format(name))
    return [row["attribute"] for row in rows]


def in_order(staged: Staged) -> list[str]:
    """Individuals in the secret order in which they are handled."""
    name = staged.state.work("individuals").identifier
    rows = fetch(staged.conn, sql.SQL("SELECT individual FROM {} ORDER BY rid").format(name))
    return [row["individual"] for row in rows]


# -- reading ----------------------------------------------------------------------------------


def triples(rows: Iterable[Mapping[str, Any]], value: str = "disease") -> list[Row]:
    return [(row["class_id"], row["individual_no"], row[value]) for row in rows]


def offences(rows: Sequence[Mapping[str, Any]], sensitive: Iterable[str]) -> list[str]:
    """What is wrong with the numbers of the published rows; all else is of quasi-identifiers."""
    left_out = {"class_id", "individual_no", *sensitive}
    elements = [
        (row["class_id"], str([v for name, v in row.items() if name not in left_out]))
        for row in rows
    ]
    return oracle.offences([(r["class_id"], r["individual_no"], None) for r in rows], elements)


def members(staged: Staged) -> dict[int, frozenset[str]]:
    """Individuals of every class."""
    return grouped(staged.table("members"))


def grouped(rows: Iterable[Mapping[str, Any]]) -> dict[int, frozenset[str]]:
    found: dict[int, set[str]] = defaultdict(set)
    for row in rows:
        found[row["class_id"]].add(row["member"])
    return {number: frozenset(names) for number, names in found.items()}


def holdings(owned: Iterable[tuple[Any, Any]]) -> Counter[tuple[str, ...]]:
    """What individuals have, of (individual, what one record has), without whose it is."""
    found: dict[Any, list[str]] = defaultdict(list)
    for individual, value in owned:
        found[individual].append(repr(value))
    return Counter(tuple(sorted(values)) for values in found.values())
