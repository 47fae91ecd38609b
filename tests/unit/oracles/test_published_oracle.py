"""The oracle of published views: every model finds the group at fault, and no other."""

from __future__ import annotations

from typing import Any

import pytest

from pganon.loading import known
from tests.support.oracles.published import ELSEWHERE, Published, offences

ON = {"column": "disease"}
CASES: list[tuple[dict[str, Any], str, str]] = [
    ({"model": "k_anonymity", "k": 4}, "aaaa", "aaa"),
    ({"model": "no_attack", "gain": 3, "cost": 1}, "aaaa", "aaa"),
    (
        {"model": "k_map", "k": 5, "sampling_fraction": 0.1, "significance": 0.05},
        "aaa",
        "aa",
    ),
    ({"model": "alpha_k_anonymity", **ON, "alpha": 0.5, "k": 4}, "aabb", "abc"),
    ({"model": "alpha_k_anonymity", **ON, "alpha": 0.5, "k": 4}, "aabb", "aaab"),
    ({"model": "distinct_l_diversity", **ON, "l": 3}, "aabc", "aabb"),
    ({"model": "entropy_l_diversity", **ON, "l": 2}, "aabb", "aaab"),
    ({"model": "recursive_cl_diversity", **ON, "c": 2, "l": 2}, "aaabb", "aaab"),
    ({"model": "t_closeness", **ON, "t": 0.25}, "aaaaaabb", "abb"),
    ({"model": "beta_likeness", **ON, "beta": 0.4, "variant": "basic"}, "aaaaabb", "abb"),
    ({"model": "beta_likeness", **ON, "beta": 5}, "aaaaabb", "bbb"),
    ({"model": "delta_disclosure", **ON, "delta": 0.3}, "aaabbaab", "abb"),
    ({"model": "anatomy_l_diversity", **ON, "l": 2}, "aabb", "aab"),
    ({"model": "anatomy_l_diversity", **ON, "l": 2, "level": "unique"}, "abc", "aabb"),
    ({"model": "slicing_l_diversity", "l": 2}, "aabb", "aab"),
    ({"model": "slicing_l_diversity", "l": 2, "level": "tuple"}, "aabb", "aab"),
    ({"model": "slicing_l_diversity", **ON, "l": 2, "min_size": 4}, "aabb", "abc"),
    ({"model": "local_bucket_diversity", **ON, "l": 2}, "abc", "aab"),
    ({"model": "ir_k_anonymity", "k": 3}, "aaa", "aa"),
    ({"model": "ir_kl_anonymity", **ON, "k": 2, "l": 3}, "abc", "abb"),
    ({"model": "ir_alpha_beta_anonymity", **ON, "alpha": 0.5, "beta": 0.5}, "aabb", "aaab"),
    ({"model": "eir_l_diversity", **ON, "l": 2}, "aab", "aaa"),
    ({"model": "eir_alpha_beta_anonymity", **ON, "alpha": 0.5, "beta": 0.5}, "aabb", "aaab"),
]
"""A model, with values of a group that satisfies it and of one beside it that does not."""


@pytest.mark.parametrize(("model", "good", "bad"), CASES)
def test_the_group_at_fault_is_found(model: dict[str, Any], good: str, bad: str) -> None:
    rows = [
        {"class_id": group, "individual_no": n, "disease": value}
        for group, values in (("good", good), ("bad", bad))
        for n, value in enumerate(values)
    ]
    shown = Published({"columns": {"disease": {"role": "sensitive"}}}, {"": rows})
    assert offences(shown, model) == ["bad"]


AVERAGE = {"model": "average_risk", "risk": 0.4}
WHOLE: list[tuple[dict[str, Any], list[int], list[str]]] = [
    (AVERAGE, [2, 3], []),
    (AVERAGE, [1, 3], ["risk"]),
    ({**AVERAGE, "highest": 0.3, "share": 0.2}, [4, 1], []),
    ({**AVERAGE, "highest": 0.25, "share": 0}, [4, 4], []),
    ({**AVERAGE, "highest": 0.3, "share": 0.2}, [4, 1, 1], ["risk", "share"]),
    ({**AVERAGE, "highest": 0.3, "share": 0.4}, [4, 3], ["share"]),
    ({"model": "sample_uniqueness", "share": 0.5}, [1, 1, 2], []),
    ({"model": "sample_uniqueness", "share": 0.5}, [1, 1, 1, 2], ["share"]),
]
"""A model of all classes, their sizes, and the parameters that these miss."""


@pytest.mark.parametrize(("model", "sizes", "missed"), WHOLE)
def test_models_of_all_classes(model: dict[str, Any], sizes: list[int], missed: list[str]) -> None:
    rows = [{"class_id": group} for group, size in enumerate(sizes) for _ in range(size)]
    assert offences(Published({"columns": {}}, {"": rows}), model) == missed


def test_values_repeat_in_buckets_in_common() -> None:
    """Up to 1/l of a bucket's records, and not in buckets of one column."""
    held = {"good": "aabc", "bad": "aaab"}
    values = [{"zip_bucket": bucket, "zip": v} for bucket, shown in held.items() for v in shown]
    model = {"model": "local_bucket_diversity", "column": "zip", "l": 2}
    for other, expected in (("good", ["bad"]), ("odd", ["good", "bad"])):
        records = [{"zip_bucket": "good", "drug_bucket": other}, {"zip_bucket": "bad"}]
        shown = Published({"columns": {}}, {"": records, "values_zip": values})
        assert offences(shown, model) == expected


def test_clusters() -> None:
    columns = {name: {"role": "quasi_sensitive", "set": "s"} for name in ("age", "zip")}
    rows = [
        {"cluster_no": "good", "age": [1, 2], "zip": ["a", None]},
        {"cluster_no": "bad", "age": [1, 2, 3], "zip": ["a"]},
    ]
    shown = Published({"columns": columns}, {"": rows})
    assert offences(shown, {"model": "qs_k_anonymity", "k": 4}) == ["bad"]


def test_there_is_one_for_every_model() -> None:
    judged = {"qs_k_anonymity", *ELSEWHERE, *(m["model"] for m, _, _ in [*CASES, *WHOLE])}
    assert judged == set(known().models)
