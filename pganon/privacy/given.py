"""Parameters with which a model also holds against readers who know that a person has a value.

NULL counts as one value. If a reader can rule it out for a victim, the other values of the group
remain, for which a model may fail: of {flu, NULL} only the flu remains. With l + 1, and with
alpha / (1 + alpha), it cannot fail, as docs/reference/models.md proves for every model here.
"""

from __future__ import annotations

from fractions import Fraction

from pganon.privacy.models import PrivacyModel


def given_value(declaration: PrivacyModel) -> PrivacyModel:
    """The model with the parameter that NULL and another value take it to.

    Raises:
        ValueError: there is no such parameter; the policy's rules let none of these through.
    """
    if not declaration.conditional:
        raise ValueError(f"{declaration.model} has no parameter that holds without NULL")
    parameters = declaration.model_dump()
    if "l" in parameters:
        return declaration.model_copy(update={"l": parameters["l"] + 1})
    # As a fraction: hardly any of these is a decimal, and groups at the bound are to hold it.
    alpha = Fraction(str(parameters["alpha"]))
    return declaration.model_copy(update={"alpha": alpha / (1 + alpha)})
