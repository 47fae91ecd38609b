"""axe-core, where the package that carries it is installed."""

from __future__ import annotations

import importlib.util
from pathlib import Path

_PACKAGE = importlib.util.find_spec("axe_core_python")
SCRIPT = _PACKAGE and _PACKAGE.origin and Path(_PACKAGE.origin).with_name("axe.min.js")
"""The program that finds what keeps people from using a page; None: it is not there."""
