"""What a method is to the rest of pganon: it makes groups of the encoded records."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pganon.published.form import PublishedForm
from pganon.spec.model import ReleaseSpec
from pganon.steps import Step


@dataclass(frozen=True)
class Method:
    """An algorithm that makes groups.

    Attributes:
        partition_steps: steps from the encoded records to what the form needs. They observe the
            fact `suppressed`, the number of source records that are not released.
        assumed: facts that `explain` renders with, since nothing was observed yet.
    """

    name: str
    form: PublishedForm
    partition_steps: Callable[[ReleaseSpec], tuple[Step, ...]]
    assumed: Callable[[ReleaseSpec], dict[str, int]]
