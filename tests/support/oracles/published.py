"""Privacy models on the views of any release, from the definitions.

Nothing but published rows and the policy is read. Groups are classes, buckets or clusters; a model
on a column is about the groups that show that column's values.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import exp, factorial, prod
from typing import Any

from tests.support.oracles import identity, model
from tests.support.oracles.definitions import distinct_l, entropy_at_least, t_equal

Row = Mapping[str, Any]
Model = Mapping[str, Any]
"""A requirement as a policy writes it."""

ELSEWHERE = {
    "event_share": "tests/integration/methods/related/test_related.py",
    "background_knowledge": "tests/integration/methods/background/test_background.py",
    "delta_presence": "tests/integration/methods/classes/test_population_models.py",
    "profitability": "tests/integration/methods/classes/test_profit.py",
    "population_uniqueness": "tests/integration/methods/classes/test_population_uniqueness.py",
}
"""Models that published rows alone do not decide, and the tests that judge them."""

ROUNDED = 1e-9


@dataclass(frozen=True)
class Published:
    """The views of a release, by what their names have after that of the release."""

    policy: Mapping[str, Any]
    views: Mapping[str, list[Row]]

    def role(self, role: str) -> list[str]:
        return [name for name, column in self.policy["columns"].items() if column["role"] == role]

    def sizes(self) -> Counter[Any]:
        """Records by group."""
        found: Counter[Any] = Counter()
        for row in self.views.get("qit") or self.views[""]:
            found[row.get("class_id", row.get("group_id"))] += row.get("count", 1)
        return found

    def tables(self, column: str) -> list[Row]:
        """Rows that show values of a sensitive column in their groups."""
        apart = [part for part in self.views if re.fullmatch(r"st\d*", part)]
        for part in (f"values_{column}", *apart):
            if column in (self.views.get(part) or [{}])[0]:
                return self.views[part]
        return self.views[""]

    def values(self, *columns: str) -> dict[Any, list[Any]]:
        """Values of every group, or combinations of values of several columns."""
        found: dict[Any, list[Any]] = defaultdict(list)
        for row in self.tables(columns[0]):
            key = next(row[k] for k in (f"{columns[0]}_bucket", "class_id", "group_id") if k in row)
            shown = row[columns[0]] if len(columns) == 1 else tuple(row[c] for c in columns)
            found[key] += [shown] * row.get("count", 1)
        return found

    def in_common(self, column: str) -> bool:
        """Whether another column has the buckets of this one, where records hide both."""
        own = f"{column}_bucket"
        others = [name for name in self.views[""][0] if name.endswith("_bucket") and name != own]
        pairs = [[(row.get(own), row.get(name)) for row in self.views[""]] for name in others]
        both = [[pair for pair in found if None not in pair] for found in pairs]
        return any(found and all(one == other for one, other in found) for found in both)

    def combinations(self) -> dict[Any, int]:
        """Of every cluster, the fewest combinations that its arrays allow in one set."""
        sets: dict[str, list[str]] = defaultdict(list)
        for name in self.role("quasi_sensitive"):
            sets[self.policy["columns"][name]["set"]].append(name)
        return {
            row["cluster_no"]: min(prod(len(row[c]) for c in held) for held in sets.values())
            for row in self.views[""]
        }


def offences(p: Published, wanted: Model) -> list[Any]:
    """Groups that do not satisfy a model."""
    word = wanted["model"]
    if word == "k_anonymity":
        return [group for group, size in p.sizes().items() if size < wanted["k"]]
    if word == "k_map":
        return [
            group
            for group, size in p.sizes().items()
            if size < wanted["k"] and chance_of(size, wanted) > wanted["significance"]
        ]
    if word in ("average_risk", "sample_uniqueness"):
        return whole_offences(list(p.sizes().values()), wanted)
    if word == "qs_k_anonymity":
        return [group for group, number in p.combinations().items() if number < wanted["k"]]
    if word.startswith(("ir_", "eir_")):
        (column,) = p.role("sensitive")
        rows = [(row["class_id"], row["individual_no"], row[column]) for row in p.views[""]]
        return [group for group, _ in identity.violations([wanted], rows)]
    tables = [[wanted["column"]]] if "column" in wanted else [[c] for c in p.role("sensitive")]
    if wanted.get("level") == "tuple":
        tables = [[name for name in p.role("sensitive") if name in p.tables(name)[0]]]
    found = []
    for columns in tables:
        groups = p.values(*columns)
        whole = [value for values in groups.values() for value in values]
        if word == "local_bucket_diversity" and p.in_common(columns[0]):
            wanted = {**wanted, "level": "attribute"}
        found += [group for group, held in groups.items() if not _holds(wanted, held, whole)]
    return found


def whole_offences(sizes: list[int], wanted: Model) -> list[str]:
    """The parameters that all classes of these sizes together do not satisfy."""
    limit = {n: Fraction(str(v)) for n, v in wanted.items() if isinstance(v, int | float)}
    risks = [Fraction(1, size) for size in sizes for _ in range(size)]
    if wanted.get("model") == "sample_uniqueness":
        alone = Fraction(sizes.count(1), len(risks))
        return ["share"] if alone > limit["share"] else []
    shares = {"risk": sum(risks) / len(risks)}
    if "highest" in limit:
        shares["share"] = Fraction(sum(r > limit["highest"] for r in risks), len(risks))
    return [name for name, share in shares.items() if share > limit[name]]


def chance_of(size: int, wanted: Model) -> float:
    """The chance that a class of k people has so many records of the sample, or more."""
    mean = wanted["k"] * wanted["sampling_fraction"]
    chances = [exp(-mean) * mean**n / factorial(n) for n in range(wanted["k"] + 100)]
    present = sum(chances[1:]) if wanted.get("estimator") != "poisson" else 1
    return sum(chances[size:]) / present


def _holds(wanted: Model, values: list[Any], whole: list[Any]) -> bool:
    limit = {n: Fraction(str(v)) for n, v in wanted.items() if isinstance(v, int | float)}
    least = max(limit.get("k", 1), limit.get("min_size", 1))
    if len(values) < least:
        return False
    match wanted["model"]:
        case "no_attack":
            return limit["gain"] / len(values) < limit["cost"]
        case "distinct_l_diversity":
            return distinct_l(values) >= limit["l"]
        case "entropy_l_diversity":
            return entropy_at_least(values, limit["l"])
        case "recursive_cl_diversity":
            return model.recursive_c(values, wanted["l"]) < limit["c"]
        case "alpha_k_anonymity":
            return model.alpha(values) <= limit["alpha"]
        case "t_closeness":
            return t_equal(values, whole) <= limit["t"]
        case "beta_likeness" if wanted.get("variant") == "basic":
            return model.beta_basic(values, whole) <= limit["beta"]
        case "beta_likeness":
            return model.beta_enhanced(values, whole) <= limit["beta"]
        case "delta_disclosure":
            return model.delta(values, whole) <= wanted["delta"] + ROUNDED
        case "local_bucket_diversity" if wanted.get("level") != "attribute":
            return len(set(values)) == len(values) >= limit["l"]
        case "anatomy_l_diversity" | "slicing_l_diversity" if wanted.get("level") == "unique":
            return len(set(values)) == len(values) >= limit["l"]
        case "anatomy_l_diversity" | "slicing_l_diversity" | "local_bucket_diversity":
            return model.alpha(values) * limit["l"] <= 1
    raise ValueError(wanted["model"])
