"""Classes of records with similar priors, and what their owner keeps to prove it."""

from __future__ import annotations

from dataclasses import replace

from pganon.methods.background.form.audit import checks, relations, staging_steps
from pganon.methods.background.form.metrics import ON_REQUEST
from pganon.methods.background.form.warned import warnings
from pganon.methods.common.form.class_description import CLASSES

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
