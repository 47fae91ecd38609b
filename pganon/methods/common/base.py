"""Interface of methods, which make groups of the encoded records."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pganon.forms.form import PublishedForm
from pganon.policy.options import MethodOptions
from pganon.policy.registry import word_of
from pganon.resolved.model import ReleaseSpec
from pganon.steps import Step


@dataclass(frozen=True)
class Method:
    """An algorithm that makes groups.

    Attributes:
        options: what a policy may say beside it, and what the rest of the policy must look like.
        partition_steps: steps from the encoded records to what the form needs. They observe
            :data:`pganon.forms.facts.SUPPRESSED`, the source records that are not released.
    """

    options: type[MethodOptions]
    form: PublishedForm
    partition_steps: Callable[[ReleaseSpec], tuple[Step, ...]]

    @property
    def name(self) -> str:
        """The word of a policy."""
        return word_of(self.options, "name")
