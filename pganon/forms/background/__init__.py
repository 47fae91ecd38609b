"""Classes of records with similar priors, and what their owner keeps to prove it."""

from __future__ import annotations

from dataclasses import replace

from pganon.forms.background.audit import checks, relations, staging_steps
from pganon.forms.background.metrics import ON_REQUEST
from pganon.forms.background.warned import warnings
from pganon.forms.class_description import CLASSES

BACKGROUND = replace(
    CLASSES,
    relations=relations,
    staging_steps=staging_steps,
    checks=checks,
    metrics=ON_REQUEST,
    warnings=warnings,
)

SINGLE = replace(BACKGROUND, staging_steps=lambda spec: staging_steps(spec, clustered=False))
"""The same where every class has been held together by itself."""
