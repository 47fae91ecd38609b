"""Options of Mondrian."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Literal

from pganon.policy.model import ColumnPolicy
from pganon.policy.options import CLASS_ID, FLAT, UNPUBLISHED, MethodOptions, RandomOrder
from pganon.policy.refusals import Refusal, known_word
from pganon.policy.tasks import Start


class Mondrian(MethodOptions):
    """Top-down multidimensional partitioning."""

    roles = UNPUBLISHED | {"quasi_identifying", "sensitive", "insensitive"}
    grouped = "quasi_identifying"
    models = frozenset(
        {
            "k_anonymity",
            "alpha_k_anonymity",
            "distinct_l_diversity",
            "entropy_l_diversity",
            "recursive_cl_diversity",
            "t_closeness",
            "beta_likeness",
            "delta_disclosure",
        }
    )
    example = "{model: k_anonymity, k: 5}"
    adds = (CLASS_ID,)
    parts = (FLAT,)
    shows_reference = True

    starts = (
        Start(
            task="survey",
            page="tutorial/first-release.md",
            costs="quasi-identifiers become ranges and sets; every further one costs the others",
            about_all=({"model": "k_anonymity", "k": 5},),
            about_each=({"model": "distinct_l_diversity", "l": 2},),
        ),
        Start(
            task="monthly",
            page="tutorial/every-month.md",
            costs="published groups stay; new people wait until there are enough of them",
            about_all=({"model": "k_anonymity", "k": 5},),
            about_each=({"model": "distinct_l_diversity", "l": 2},),
            keys={
                "refresh": ("increments", "a version adds groups of new people to the one before"),
            },
        ),
        Start(
            task="audiences",
            page="explanation/releases-over-time.md",
            costs="a policy each; a role that gains a version is checked against all that it had",
            about_all=({"model": "k_anonymity", "k": 10},),
            about_each=({"model": "distinct_l_diversity", "l": 3},),
            keys={
                "audiences": (
                    "by_reader",
                    "in the policies of both, each with a release name and readers of its own",
                ),
            },
        ),
    )

    name: Literal["mondrian"]
    variant: Annotated[
        Literal["strict", "relaxed"], known_word("variant of mondrian", ("strict", "relaxed"))
    ] = "strict"
    choose: Annotated[
        Literal["width", "loss"], known_word("way to choose a column", ("width", "loss"))
    ] = "loss"

    def column_refusals(self, name: str, column: ColumnPolicy) -> Iterable[Refusal]:
        return ()  # it heeds all keys

    @property
    def replays(self) -> bool:
        return self.variant == "strict"

    @property
    def replay_hint(self) -> str:
        return "use variant: strict, or regions: none"

    @property
    def random_order(self) -> RandomOrder:
        return "numbered" if self.variant == "relaxed" else "none"
