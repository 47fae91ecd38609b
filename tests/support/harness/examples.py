"""How many random tables a test of runs tries: few in `make test`, more in `make test-slow`."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, Phase, settings


def examples(few: int) -> settings:
    """Settings for tests marked `random_tables`; PGANON_TEST_EXAMPLES says another number."""
    return settings(
        max_examples=int(os.environ.get("PGANON_TEST_EXAMPLES", few)),
        deadline=None,
        derandomize=os.environ.get("CI", "").lower() in ("1", "true"),
        suppress_health_check=list(HealthCheck),
        # A run takes a good part of a second: shrinking would take minutes.
        phases=(Phase.explicit, Phase.reuse, Phase.generate),
    )
