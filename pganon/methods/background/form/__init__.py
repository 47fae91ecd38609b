"""Classes of records with similar priors, and what their owner keeps to prove it."""

from __future__ import annotations

from dataclasses import replace

from pganon.forms.form import Staging
from pganon.methods.background.form.audit import checks, relations, staging_steps
from pganon.methods.background.form.metrics import ON_REQUEST
from pganon.methods.background.form.warned import warnings
from pganon.methods.common.form.class_description import CLASSES

BACKGROUND = replace(
    CLASSES,
    staging=Staging(relations, staging_steps),
    verification=replace(CLASSES.verification, checks=checks),
    publication=replace(CLASSES.publication, warnings=warnings),
    statistics=replace(CLASSES.statistics, on_request=ON_REQUEST),
)

SINGLE = replace(
    BACKGROUND,
    staging=Staging(relations, lambda spec: staging_steps(spec, clustered=False)),
)
"""The same where every class has been held together by itself."""
