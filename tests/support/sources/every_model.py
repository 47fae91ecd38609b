"""A policy for every privacy model, over the source of :mod:`tests.support.harness.plans`.

What is here for every model is compared with the registry by a test.
"""

from __future__ import annotations

from typing import Any

K: dict[str, Any] = {"model": "k_anonymity", "k": 4}
_ON: dict[str, Any] = {"column": "disease"}

Wanted = tuple[str, list[dict[str, Any]]]
"""A method, and the models of its policy."""

EVERY: dict[str, Wanted] = {
    "k_anonymity": ("mondrian", [K]),
    "no_attack": ("mondrian", [{"model": "no_attack", "gain": 10.5, "cost": 3}]),
    "k_map": (
        "mondrian",
        [{"model": "k_map", "k": 10, "sampling_fraction": 0.1, "significance": 0.05}],
    ),
    "delta_presence": (
        "full_domain",
        [K, {"model": "delta_presence", "population": "public.resident", "max": 0.4}],
    ),
    "average_risk": (
        "mondrian",
        [K, {"model": "average_risk", "risk": 0.25, "highest": 0.2, "share": 0.9}],
    ),
    "sample_uniqueness": ("mondrian", [{"model": "sample_uniqueness", "share": 0.1}]),
    "population_uniqueness": (
        "full_domain",
        [{"model": "population_uniqueness", "population_size": 100_000, "share": 0.1}],
    ),
    "profitability": (
        "mondrian",
        [K, {"model": "profitability", "gain": 3, "cost": 1, "loss": 2, "benefit": 1}],
    ),
    "alpha_k_anonymity": (
        "mondrian",
        [{"model": "alpha_k_anonymity", **_ON, "alpha": 0.5, "k": 4}],
    ),
    "distinct_l_diversity": ("mondrian", [{"model": "distinct_l_diversity", **_ON, "l": 2}]),
    "entropy_l_diversity": ("mondrian", [{"model": "entropy_l_diversity", **_ON, "l": 2.5}]),
    "recursive_cl_diversity": (
        "mondrian",
        [{"model": "recursive_cl_diversity", **_ON, "c": 1.5, "l": 2}],
    ),
    "t_closeness": ("mondrian", [K, {"model": "t_closeness", **_ON, "t": 0.4}]),
    "beta_likeness": (
        "mondrian",
        [K, {"model": "beta_likeness", **_ON, "beta": 2, "variant": "basic"}],
    ),
    "delta_disclosure": ("mondrian", [{"model": "delta_disclosure", **_ON, "delta": 2.5}]),
    "qs_k_anonymity": ("qs_greedy", [{"model": "qs_k_anonymity", "k": 4, "min_values": 2}]),
    "anatomy_l_diversity": (
        "anatomy",
        [{"model": "anatomy_l_diversity", **_ON, "l": 3, "level": "unique"}],
    ),
    "slicing_l_diversity": (
        "slamsa",
        [
            {"model": "slicing_l_diversity", **_ON, "l": 2, "min_size": 4},
            {"model": "slicing_l_diversity", "column": "drug", "l": 2},
            {"model": "slicing_l_diversity", "l": 2, "level": "tuple"},
        ],
    ),
    "local_bucket_diversity": (
        "lgb_mdp",
        [
            K,
            {"model": "local_bucket_diversity", **_ON, "l": 2},
            {"model": "t_closeness", "column": "zip", "t": 0.3, "min_size": 3},
        ],
    ),
    "background_knowledge": (
        "beta_primacy",
        [
            {"model": "k_anonymity", "k": 2},
            {"model": "beta_likeness", **_ON, "beta": 3},
            {
                "model": "background_knowledge",
                "j": 0.8,
                "knowledge": {"cells": {"intervals": {"age": 5}}},
            },
        ],
    ),
    "ir_k_anonymity": ("danonyir", [{"model": "ir_k_anonymity", "k": 2}]),
    "ir_kl_anonymity": ("danonyir", [{"model": "ir_kl_anonymity", **_ON, "k": 2, "l": 2}]),
    "ir_alpha_beta_anonymity": (
        "danonyir",
        [{"model": "ir_alpha_beta_anonymity", **_ON, "alpha": 0.6, "beta": 0.6}],
    ),
    "eir_l_diversity": ("danonyir", [{"model": "eir_l_diversity", **_ON, "l": 2}]),
    "eir_alpha_beta_anonymity": (
        "geneir",
        [{"model": "eir_alpha_beta_anonymity", **_ON, "alpha": 0.6, "beta": 0.7}],
    ),
}
"""By the word of the model."""
