"""Anonymized data releases, computed, verified and published inside PostgreSQL.

import pganon

policy = pganon.load_policy("policy.yaml")
result = pganon.run_release(policy, dsn="postgresql:///mydb")
print(result.version, result.utility.gcp)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pganon.assessment import assess
    from pganon.assessment.figures import Assessment
    from pganon.errors import PganonError, PolicyError, PrivacyRefusal
    from pganon.estimation.ask import Estimates, estimate
    from pganon.forms.request import Classify, Workload
    from pganon.forms.request import Request as MetricsRequest
    from pganon.loading import load_policy
    from pganon.run.context import plan_release
    from pganon.run.options import Options
    from pganon.run.record import RunResult
    from pganon.run.release import releases, run_release

__all__ = [
    "Assessment",
    "Classify",
    "Estimates",
    "MetricsRequest",
    "Options",
    "PganonError",
    "PolicyError",
    "PrivacyRefusal",
    "RunResult",
    "Workload",
    "assess",
    "estimate",
    "load_policy",
    "plan_release",
    "releases",
    "run_release",
]

# Where a name is. A process that only searches needs a few modules of the package, and importing
# all of them takes a second.
_PLACES = {
    "Assessment": "assessment.figures.Assessment",
    "Classify": "forms.request.Classify",
    "Estimates": "estimation.ask.Estimates",
    "MetricsRequest": "forms.request.Request",
    "Options": "run.options.Options",
    "PganonError": "errors.PganonError",
    "PolicyError": "errors.PolicyError",
    "PrivacyRefusal": "errors.PrivacyRefusal",
    "RunResult": "run.record.RunResult",
    "Workload": "forms.request.Workload",
    "assess": "assessment.assess",
    "estimate": "estimation.ask.estimate",
    "load_policy": "loading.load_policy",
    "plan_release": "run.context.plan_release",
    "releases": "run.release.releases",
    "run_release": "run.release.run_release",
}


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, _, inside = _PLACES[name].rpartition(".")
    return getattr(import_module(f"{__name__}.{module}"), inside)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
