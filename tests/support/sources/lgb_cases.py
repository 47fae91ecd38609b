"""Tables with an outcome that was worked out by hand, for oracles and for whole runs.

A line has a row's key and its values; ! marks those that are sensitive for it, - is NULL.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from tests.support.oracles.lgb import Attribute, Key, Table, nominal, numeric


def read(attributes: Sequence[Attribute], text: str) -> Table:
    values: dict[Key, tuple[Any, ...]] = {}
    hidden: dict[Key, frozenset[int]] = {}
    for line in text.strip().splitlines():
        key, *cells = line.split()
        own = [_value(a, cell.rstrip("!")) for a, cell in zip(attributes, cells, strict=True)]
        values[int(key)] = tuple(own)
        hidden[int(key)] = frozenset(at for at, cell in enumerate(cells) if cell.endswith("!"))
    return Table(tuple(attributes), values, hidden)


def _value(attribute: Attribute, text: str) -> Any:
    if text == "-":
        return None
    return int(text) if attribute.kind == "numeric" else text


def of_column(attribute: Attribute, *values: Any) -> Table:
    """One column, sensitive for everybody, with keys from 1."""
    keys = range(1, len(values) + 1)
    rows = {key: (value,) for key, value in zip(keys, values, strict=True)}
    return Table((attribute,), rows, dict.fromkeys(keys, frozenset({0})))


def cells(table: Table, name: str) -> dict[Key, Any]:
    """Sensitive cells of an attribute."""
    at = [attribute.name for attribute in table.attributes].index(name)
    return {key: row[at] for key, row in table.values.items() if at in table.hidden[key]}


def sets(text: str) -> set[frozenset[int]]:
    """`1,2 3,4` as sets of keys."""
    return {frozenset(map(int, one.split(","))) for one in text.split()}


# Section 5.1: the example of the paper, with data that fit all that its text says.
PAPER = read(
    (nominal("gender"), numeric("age"), numeric("zip"), nominal("disease")),
    """
    1001 F 22  3201! flu!
    1002 F 27  3225! bronchitis!
    1003 M 41  3236  dyspepsia!
    1004 M 24! 3271  pneumonia!
    1005 F 29! 3285  flu!
    1006 M 45  3242  gastritis!
    1007 F 34! 3290  dyspepsia!
    1008 M 31! 3276  bronchitis!
    """,
)
PAPER_GROUPS = sets("1001,1002 1003,1006 1004,1008 1005,1007")

# Section 5.3.
SALARIES = of_column(numeric("salary"), 10, 50, 30, 20, 50, 80, 10, 60, 40, 30, 70, 50)

# Section 5.5: subsets of the QI partition below k = 3.
SMALL = read(
    (numeric("age"), nominal("city"), nominal("sex")),
    """
    1 20 A f
    2 25 A m
    3 23 B f
    4 31 B m
    5 38 C m
    6 40 C f
    7 36 C m
    8 22! A f
    9 27! B f
    10 33! A m
    11 41! B! m
    12 45! A! f
    13 52 C! m
    """,
)

# Section 5.6: NULL and ties.
TIES = read(
    (numeric("x"), nominal("y")),
    """
    1 1 u
    2 1 u
    3 1 v
    4 2 v
    5 2 w
    6 - u
    7 - w
    8 9 w
    """,
)

# Section 5.8: an outlier, and a table on which the variants differ.
OUTLIER = read(
    (numeric("x"),), "\n".join(f"{i} {x}" for i, x in enumerate((1, 2, 3, 10, 11, 12, 100), 1))
)
TOWNS = read(
    (numeric("age"), nominal("city")),
    """
    1 21 A
    2 22 A
    3 24 B
    4 35 B
    5 36 C
    6 38 C
    7 40 A
    8 61 C
    9 63 C
    10 66 B
    """,
)
TOWN_GROUPS: Mapping[tuple[int, str, str], tuple[set[frozenset[int]], int, Fraction]] = {
    (2, "mdp", ""): (sets("1,2,3 4,5 6,7,8 9,10"), 26, Fraction(386, 45)),
    (2, "grow", "stop"): (sets("1,2,7 3,4 5,6 8,9,10"), 26, Fraction(188, 45)),
    (2, "grow", "fill"): (sets("1,2,7 3,4 5,6 8,9,10"), 26, Fraction(188, 45)),
    (2, "seeds", "stop"): (sets("1,2,3,7 4,10 5,6 8,9"), 28, Fraction(266, 45)),
    (2, "seeds", "fill"): (sets("1,7 2,3 4,10 5,6 8,9"), 20, Fraction(172, 45)),
    (3, "mdp", ""): (sets("1,2,3,4,5 6,7,8,9,10"), 50, Fraction(133, 9)),
    (3, "grow", "stop"): (sets("1,2,5,6,7 3,4,8,9,10"), 50, Fraction(121, 9)),
    (3, "grow", "fill"): (sets("1,2,5,6,7 3,4,8,9,10"), 50, Fraction(121, 9)),
    (3, "seeds", "stop"): (sets("1,2,3,5,6,7 4,8,9,10"), 52, Fraction(628, 45)),
    (3, "seeds", "fill"): (sets("1,2,3 4,8,9,10 5,6,7"), 34, Fraction(89, 9)),
}

# Section 5.9: sums.
PAY = read(
    (nominal("sex"), numeric("age"), numeric("salary")),
    """
    1 f 31 100!
    2 f 34 300!
    3 m 24! 200!
    4 f 29! 500!
    5 f 34! 400!
    6 m 31! 900!
    7 m 45 700!
    8 m 41 600!
    """,
)
PAY_GROUPS = sets("1,2 7,8 4,5 3,6")

# Section 1: values that always occur together.
LINKED = read(
    (nominal("organ"), nominal("symptom")),
    "\n".join(
        f"{2 * at + twice} {organ}! {symptom}!"
        for at, (organ, symptom) in enumerate(
            [
                ("Lung", "Cough"),
                ("Liver", "Jaundice"),
                ("Bladder", "Hematuria"),
                ("Skin", "Lesion"),
            ]
        )
        for twice in (1, 2)
    ),
)
LINKED_ALIGNED = sets("5,1 6,2 3,7 4,8")
