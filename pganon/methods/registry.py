"""The methods that a policy can name: those of pganon, and those of packages beside it.

A package offers methods under the entry point group `pganon.methods`, each a
:class:`~pganon.methods.common.base.Method`. Such a package is code that runs with the rights of who
starts pganon, as every installed package is.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from difflib import get_close_matches
from functools import cache, partial
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any, get_args

from pganon.error_codes import ErrorCode
from pganon.errors import UsageError
from pganon.forms.form import PublishedForm
from pganon.methods.common.base import Method
from pganon.methods.related import related
from pganon.policy.options import MethodOptions, Support
from pganon.policy.registry import OnDemand, word_of
from pganon.policy.words import ROLES
from pganon.privacy.models import MODELS
from pganon.resolved.model import ReleaseSpec

GROUP = "pganon.methods"

OWN = {
    "one_dimensional": "classes.one_dimensional:METHOD",
    "mondrian": "classes.mondrian:METHOD",
    "full_domain": "classes.full_domain:METHOD",
    "danonyir": "individuals:DANONYIR",
    "geneir": "individuals:GENEIR",
    "qs_greedy": "clusters.qs:GREEDY",
    "qs_efficient": "clusters.qs:EFFICIENT",
    "anatomy": "buckets.anatomy:METHOD",
    "slicing": "buckets.slicing:METHOD",
    "slamsa": "buckets.slamsa:METHOD",
    "msb": "buckets.msb:METHOD",
    "sloms": "buckets.sloms:METHOD",
    "lgb_mdp": "local:MDP",
    "lgb_ncp": "local:NCP",
    "local_bucketization": "local:BUCKETS",
    "local_generalization": "local:GROUPS",
    "beta_primacy": "background:BETA_PRIMACY",
    "kinc": "background:KINC",
    "kagg": "background:KAGG",
    "kinc_mic": "background:KINC_MIC",
    "kagg_mic": "background:KAGG_MIC",
    "js_reduce": "background:JS_REDUCE",
}
"""The methods of this version, in the order in which people are told of them.

Each is a word of a policy, with the module and name of its Method. A command imports the method
that a policy names, because importing all of them takes longer than most commands.
"""


@cache
def methods() -> OnDemand[Method]:
    """Every method by its name; those of pganon are imported when they are first read.

    Raises:
        UsageError: bad_method, an installed package offers something else, a name twice, or cannot
            be imported.
    """
    found: dict[str, Callable[[], Method]] = {
        name: partial(_own, place) for name, place in OWN.items()
    }
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name):
        try:
            method = entry.load()
        except Exception as error:  # of somebody else's module, whatever it is
            raise _refused(entry.name, entry.value, f"{type(error).__name__}: {error}") from None
        if not isinstance(method, Method):
            raise _refused(entry.name, entry.value, "it is no pganon.methods.common.base.Method")
        wrong = next(_wrong(method), None)
        if wrong is not None:
            raise _refused(entry.name, entry.value, wrong)
        if method.name in found:
            raise _refused(entry.name, entry.value, f"a method {method.name} is there already")
        found[method.name] = entry.load
    return OnDemand(found)


def _wrong(method: Method) -> Iterator[str]:
    """What is missing or misspelt in a method of somebody else, with its class and variable."""
    options: Any = method.options
    if not (isinstance(options, type) and issubclass(options, MethodOptions)):
        yield f"options of the Method is {options!r:.60}, no subclass of MethodOptions"
        return
    if not isinstance(method.form, PublishedForm):
        yield f"form of the Method with {options.__name__} is no PublishedForm"
    if not callable(method.partition_steps):
        yield f"partition_steps of the Method with {options.__name__} cannot be called"
    field = options.model_fields.get("name")
    words = get_args(field.annotation) if field is not None else ()
    if len(words) != 1 or not isinstance(words[0], str):
        yield f"{options.__name__}.name is not a Literal of one word"
    for name, kind in MethodOptions.__annotations__.items():
        if "ClassVar" not in str(kind):
            continue
        if not hasattr(options, name):
            yield f"{options.__name__}.{name} is missing"
            return
        held, known = getattr(options, name), _KNOWN.get(name)
        default = getattr(MethodOptions, name, _EXAMPLES.get(name))
        if type(held) is not type(default):
            yield f"{options.__name__}.{name} is no {type(default).__name__}"
        elif known is not None:
            given = [held] if isinstance(held, str) else held
            unknown = sorted(str(word) for word in given if word not in known)
            if unknown:
                guess = get_close_matches(unknown[0], known, 1)
                meant = f" ({guess[0]}?)" if guess else ""
                yield f'{options.__name__}.{name} has the unknown word "{unknown[0]}"{meant}'


_EXAMPLES: dict[str, Any] = {"roles": frozenset(), "models": frozenset(), "adds": ()}
_EXAMPLES |= {"grouped": "", "example": ""}
"""Of the types of variables that have no default."""

_KNOWN: dict[str, Collection[str]] = {
    "roles": ROLES,
    "grouped": ROLES,
    "models": [word_of(model, "model") for model in MODELS],
    "shows": ("generalized", "centre", "values", "exact"),
    "sensitive": ("any", "one", "some", "hidden"),
    "supports": get_args(Support),
}


def _own(place: str) -> Method:
    module, name = place.split(":")
    return getattr(import_module(f"{__package__}.{module}"), name)


def _refused(name: str, value: str, why: str) -> UsageError:
    return UsageError(
        f"the entry point {name} = {value} of an installed package cannot be used: {why}",
        hint="uninstall or mend the package",
        code=ErrorCode.BAD_METHOD,
    )


def method_of(spec: ReleaseSpec) -> Method:
    """The method of a policy; of one with tables, what is made of it for several."""
    method = methods()[spec.policy.method.name]
    return method if spec.related is None else related(method)
