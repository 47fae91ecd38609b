"""How many random tables a test of runs tries: few in `make test`, more in `make test-slow`.

Whether they are the same every time is said by the profile of Hypothesis: "ci" where CI=1 is set,
else "default".
"""

from __future__ import annotations

import os

from hypothesis import HealthCheck, Phase, settings


def examples(few: int) -> settings:
    """Settings for tests marked `random_tables`; PGANON_TEST_EXAMPLES says another number."""
    return settings(
        max_examples=int(os.environ.get("PGANON_TEST_EXAMPLES", few)),
        deadline=None,
        suppress_health_check=list(HealthCheck),
        # A run takes a good part of a second: shrinking would take minutes.
        phases=(Phase.explicit, Phase.reuse, Phase.generate),
    )
