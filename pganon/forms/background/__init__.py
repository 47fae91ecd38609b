"""Classes of records with similar priors, and what their owner keeps to prove it."""

from __future__ import annotations

from dataclasses import replace

from pganon.forms.background.audit import checks, relations, staging_steps
from pganon.forms.background.metrics import ON_REQUEST
from pganon.forms.class_description import CLASSES
from pganon.published.prior_facts import prior_warnings

BACKGROUND = replace(
    CLASSES,
    relations=relations,
    staging_steps=staging_steps,
    checks=checks,
    warnings=lambda spec, facts: tuple(prior_warnings(spec, facts)),
    metrics=ON_REQUEST,
)

CENTRES = replace(BACKGROUND, metrics=None)
"""The same with means and modes: metrics on request are about values that cover the records."""

SINGLE = replace(BACKGROUND, staging_steps=lambda spec: staging_steps(spec, clustered=False))
"""The same where every class has been held together by itself."""
