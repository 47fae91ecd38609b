"""The methods that a policy can name: those of pganon, and those of packages beside it.

A package offers methods under the entry point group `pganon.methods`, each a
:class:`~pganon.methods.common.base.Method`. Such a package is code that runs with the rights of who
starts pganon, as every installed package is.
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import entry_points

from pganon.error_codes import ErrorCode
from pganon.errors import UsageError
from pganon.methods import background, local
from pganon.methods import individuals as identity
from pganon.methods.buckets import anatomy, msb, slamsa, slicing, sloms
from pganon.methods.classes import full_domain, mondrian
from pganon.methods.clusters import qs
from pganon.methods.common.base import Method
from pganon.resolved.model import ReleaseSpec

GROUP = "pganon.methods"

OWN = (
    mondrian.METHOD,
    full_domain.METHOD,
    identity.DANONYIR,
    identity.GENEIR,
    qs.GREEDY,
    qs.EFFICIENT,
    anatomy.METHOD,
    slicing.METHOD,
    slamsa.METHOD,
    msb.METHOD,
    sloms.METHOD,
    local.MDP,
    local.NCP,
    local.BUCKETS,
    local.GROUPS,
    background.BETA_PRIMACY,
    background.KINC,
    background.KAGG,
    background.KINC_MIC,
    background.KAGG_MIC,
    background.JS_REDUCE,
)
"""The methods of this version, in the order in which people are told of them."""


@cache
def methods() -> dict[str, Method]:
    """Every method by its name.

    Raises:
        UsageError: bad_method, an installed package offers something else, a name twice, or cannot
            be imported.
    """
    found = {method.name: method for method in OWN}
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name):
        try:
            method = entry.load()
        except Exception as error:  # of somebody else's module, whatever it is
            raise _refused(entry.name, entry.value, f"{type(error).__name__}: {error}") from None
        if not isinstance(method, Method):
            raise _refused(entry.name, entry.value, "it is no pganon.methods.common.base.Method")
        if method.name in found:
            raise _refused(entry.name, entry.value, f"a method {method.name} is there already")
        found[method.name] = method
    return found


def _refused(name: str, value: str, why: str) -> UsageError:
    return UsageError(
        f"the entry point {name} = {value} of an installed package cannot be used: {why}",
        hint="uninstall or mend the package",
        code=ErrorCode.BAD_METHOD,
    )


def method_of(spec: ReleaseSpec) -> Method:
    return methods()[spec.policy.method.name]
