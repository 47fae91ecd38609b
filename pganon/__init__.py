"""Anonymized data releases, computed, verified and published inside PostgreSQL.

import pganon

policy = pganon.load_policy("policy.yaml")
result = pganon.run_release(policy, dsn="postgresql:///mydb")
print(result.version, result.utility.gcp)
"""

from __future__ import annotations

from pganon.assessment import Assessment, assess
from pganon.errors import PganonError, PolicyError, PrivacyRefusal
from pganon.loading import load_policy
from pganon.published.request import Request as MetricsRequest
from pganon.published.request import Workload
from pganon.run.options import Options
from pganon.run.pipeline import plan_release, releases, run_release
from pganon.run.result import RunResult

__all__ = [
    "Assessment",
    "MetricsRequest",
    "Options",
    "PganonError",
    "PolicyError",
    "PrivacyRefusal",
    "RunResult",
    "Workload",
    "assess",
    "load_policy",
    "plan_release",
    "releases",
    "run_release",
]
