"""Words of papers and of other tools for what a policy calls otherwise."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Mapping

TERMS: Mapping[str, tuple[str, ...]] = {
    # Roles of columns
    "identifier": ("identifying",),
    "direct identifier": ("identifying",),
    "explicit identifier": ("identifying",),
    "QI": ("quasi_identifying",),
    "QID": ("quasi_identifying",),
    "quasi-identifier": ("quasi_identifying",),
    "key variable": ("quasi_identifying",),
    "SA": ("sensitive",),
    "confidential attribute": ("sensitive",),
    "QS attribute": ("quasi_sensitive",),
    "non-sensitive": ("insensitive",),
    "person": ("individual",),
    "subject": ("individual",),
    "respondent": ("individual",),
    "record owner": ("individual",),
    # Models
    "prosecutor risk": ("k_anonymity",),
    "marketer risk": ("average_risk",),
    "average re-identification risk": ("average_risk",),
    "journalist risk": ("k_map",),
    "δ-presence": ("delta_presence",),
    "l-diversity": (
        "distinct_l_diversity",
        "entropy_l_diversity",
        "recursive_cl_diversity",
        "anatomy_l_diversity",
        "slicing_l_diversity",
    ),
    "(c, l)-diversity": ("recursive_cl_diversity",),
    "(α, k)-anonymity": ("alpha_k_anonymity",),
    "p-sensitive k-anonymity": ("distinct_l_diversity",),
    "EMD": ("t_closeness",),
    "enhanced β-likeness": ("beta_likeness",),
    "δ-disclosure privacy": ("delta_disclosure",),
    "game theory": ("no_attack",),
    "quasi-sensitive k-anonymity": ("qs_k_anonymity",),
    "identity-reserved k-anonymity": ("ir_k_anonymity",),
    "identity reservation": ("ir_k_anonymity", "ir_kl_anonymity", "ir_alpha_beta_anonymity"),
    "IR (k, l)-anonymity": ("ir_kl_anonymity",),
    "IR (α, β)-anonymity": ("ir_alpha_beta_anonymity",),
    "EIR l-diversity": ("eir_l_diversity",),
    "EIR (α, β)-anonymity": ("eir_alpha_beta_anonymity",),
    "(α, β)-anonymity": ("ir_alpha_beta_anonymity", "eir_alpha_beta_anonymity"),
    "JS divergence": ("background_knowledge",),
    "Jensen-Shannon divergence": ("background_knowledge",),
    "J-condition": ("background_knowledge",),
    "privacy degree": ("slicing_l_diversity",),
    # Methods
    "Datafly": ("full_domain",),
    "Samarati": ("full_domain",),
    "Incognito": ("full_domain",),
    "OLA": ("full_domain",),
    "Flash": ("full_domain",),
    "global recoding": ("full_domain",),
    "local recoding": ("one_dimensional", "mondrian"),
    "multidimensional partitioning": ("mondrian",),
    "median Mondrian": ("mondrian",),
    "anatomize": ("anatomy",),
    "bucketization": ("anatomy", "local_bucketization"),
    "tuple partition": ("slicing",),
    "LGB": ("lgb_mdp", "lgb_ncp"),
    "greedy QS": ("qs_greedy",),
    "efficient QS": ("qs_efficient",),
    "genetic algorithm": ("geneir",),
    "firefly": ("slamsa",),
    "βPrimacy": ("beta_primacy",),
    "β_GE": ("beta_primacy",),
    "k-anonymity primacy": ("kinc", "kagg"),
    "kInc_GE": ("kinc",),
    "kAgg_GE": ("kagg",),
    "MIC": ("kinc_mic", "kagg_mic"),
    "microaggregation": ("kinc_mic", "kagg_mic"),
}
"""What a policy may say instead, by the word."""

_GREEK = {"α": "alpha", "β": "beta", "δ": "delta"}


def plain(word: str) -> str:
    """A word without case, signs and Greek letters."""
    text = "".join(_GREEK.get(c, c) for c in unicodedata.normalize("NFKC", word).casefold())
    return re.sub(r"[^a-z0-9]+", "", text)


_PLAIN = {plain(term): words for term, words in TERMS.items()}


def meant(word: str, known: Collection[str]) -> list[str]:
    """Those of the known words that `word` stands for elsewhere."""
    return [one for one in _PLAIN.get(plain(word), ()) if one in known]
