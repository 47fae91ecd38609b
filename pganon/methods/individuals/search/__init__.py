"""Classes of individuals with several records each, whose link is published.

Pure: arrays and codes in, classes of individuals out. DAnonyIR of Wang, Du, Luo and Li, "Two
privacy-preserving approaches for data publishing with identity reservation", Knowledge and
Information Systems 2019. `elements` has the attributes, `models` the models, `feasibility` who
has to be left out before any search, `danonyir` the search, and `classes` what becomes of
individuals that are left over.
"""

from pganon.methods.common.search.elements import Categorical, Domain, Hierarchical, Numeric
from pganon.methods.individuals.search.classes import Choice, Classes, Individuals
from pganon.methods.individuals.search.danonyir import Grown, danonyir
from pganon.methods.individuals.search.feasibility import forced_suppressions, hopeless
from pganon.methods.individuals.search.models import EIRL, IRKL, IRAlphaBeta, Person, eir_alpha_beta

__all__ = [
    "EIRL",
    "IRKL",
    "Categorical",
    "Choice",
    "Classes",
    "Domain",
    "Grown",
    "Hierarchical",
    "IRAlphaBeta",
    "Individuals",
    "Numeric",
    "Person",
    "danonyir",
    "eir_alpha_beta",
    "forced_suppressions",
    "hopeless",
]
