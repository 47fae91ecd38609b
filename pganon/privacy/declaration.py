"""What a policy declares of a privacy model, whichever it is."""

from __future__ import annotations

from abc import abstractmethod

from pganon.policy.privacy_model import ModelDeclaration
from pganon.privacy.base import Model


class PrivacyModel(ModelDeclaration):
    """A privacy model with the parameters of a policy."""

    @abstractmethod
    def measures(self) -> tuple[Model, ...]:
        """Measures of every group, each with its parameter; groups must satisfy all."""
