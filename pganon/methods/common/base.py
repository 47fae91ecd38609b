"""Interface of methods, which make groups of the encoded records."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pganon.forms.form import PublishedForm
from pganon.methods.common.minimality import Minimality
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
        minimality: what its groups tell who knows it; None where nobody has said that.
    """

    options: type[MethodOptions]
    form: PublishedForm
    partition_steps: Callable[[ReleaseSpec], tuple[Step, ...]]
    minimality: Minimality | None = None

    @property
    def name(self) -> str:
        """The word of a policy."""
        return word_of(self.options, "name")
