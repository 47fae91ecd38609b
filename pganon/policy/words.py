"""Words of a policy: those of this version, and those of the design that come later."""

from __future__ import annotations

ROLES = (
    "identifying",
    "individual",
    "quasi_identifying",
    "quasi_sensitive",
    "sensitive",
    "insensitive",
)
LATER_ROLES = ("semi_sensitive",)
TYPES = ("numeric", "ordinal", "categorical")
NULLS = ("as_value", "own_class", "suppress", "conditional", "reject")
QUASI_IDENTIFYING_NULLS = ("as_value", "own_class", "suppress", "reject")
QUASI_SENSITIVE_NULLS = ("as_value", "suppress", "reject")
SENSITIVE_NULLS = ("as_value", "conditional", "reject")
CONDITIONAL = (
    "alpha_k_anonymity",
    "distinct_l_diversity",
    "entropy_l_diversity",
    "recursive_cl_diversity",
    "anatomy_l_diversity",
    "slicing_l_diversity",
    "ir_kl_anonymity",
    "eir_l_diversity",
)
"""Models that can also hold for who knows that a sensitive value is not NULL."""
UNPROTECTED = ("warn", "accept")
MODELS = (
    "k_anonymity",
    "alpha_k_anonymity",
    "distinct_l_diversity",
    "entropy_l_diversity",
    "recursive_cl_diversity",
    "t_closeness",
    "beta_likeness",
    "delta_disclosure",
    "qs_k_anonymity",
    "anatomy_l_diversity",
    "slicing_l_diversity",
    "ir_k_anonymity",
    "ir_kl_anonymity",
    "ir_alpha_beta_anonymity",
    "eir_l_diversity",
    "eir_alpha_beta_anonymity",
)
LATER_MODELS = (
    "local_bucket_diversity",
    "background_knowledge",
)
METHODS = (
    "mondrian",
    "danonyir",
    "geneir",
    "qs_greedy",
    "qs_efficient",
    "anatomy",
    "slicing",
    "slamsa",
    "msb",
    "sloms",
)
LATER_METHODS = (
    "full_domain",
    "lgb_mdp",
    "lgb_ncp",
    "local_generalization",
    "local_bucketization",
    "kinc",
    "kagg",
    "beta_primacy",
    "js_reduce",
    "kinc_mic",
    "kagg_mic",
)
DISTANCES = ("equal", "ordered", "hierarchical")
