"""What is not protected, in words."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from pganon.report import figures, parts
from pganon.report.sources import Collected
from pganon.report.words import sentence, the_columns
from pganon.resolved.tables import HOLDERS

_LIKENESS = ("distinct_l_diversity", "entropy_l_diversity", "recursive_cl_diversity")
_OF_TABLES = (
    (
        "Values that go together",
        "Who knows a value that tells much of somebody may conclude another one. Of diagnoses in a"
        " real table of claims, with the most telling one known, the true one got more than half of"
        " the belief for 12.6 %, 1.0 % and 0.1 % of the people in groups of 5, 20 and 50.",
    ),
    (
        "How many",
        "Who knows how many rows or values somebody has, or several of them, may find the others.",
    ),
    (
        "Absence, and coarse values",
        "A value that nobody of a group has is nobody's of it. Values that mean nearly the same are"
        " counted as different.",
    ),
    (
        "Tables without people",
        "They are published as they are, and nothing is promised of them.",
    ),
)
"""Of related tables."""


def not_protected(found: Collected) -> list[parts.Text]:
    """Those of this version first."""
    return limits_of(
        models={requirement.model.name for requirement in found.requirements}
        | {one.get("model", "") for one in found.guarantee},
        sensitive=found.of_role("sensitive", "semi_sensitive"),
        insensitive=found.of_role("insensitive"),
        people=found.counts_people,
        grouped=figures.chance(found) is not None,
        exact=figures.exact(found),
    )


def limits_of(
    *,
    models: AbstractSet[str],
    sensitive: Sequence[str],
    insensitive: Sequence[str],
    people: bool,
    grouped: bool,
    exact: bool,
) -> list[parts.Text]:
    """The rows of any edition.

    Args:
        people: whether people are counted, not their records.
        grouped: whether groups say how many look the same.
        exact: whether what others may know is published as it is.
    """
    rows: list[tuple[str, str]] = []
    if insensitive:
        rows.append(
            (
                "Columns that others are assumed not to know",
                f"{sentence(the_columns(insensitive))} can identify a person within a group, if"
                f" somebody knows {'it' if len(insensitive) == 1 else 'them'}.",
            )
        )
    rows += [
        ("Other members", "Who knows the values of others in a group can exclude them."),
        ("Presence", "The release does not hide who is in it."),
    ]
    if sensitive:
        rows.append(
            (
                "What everybody learns",
                f"The shares of the values in {the_columns(sensitive)}, of the whole and of every"
                " group.",
            )
        )
        rows.append(
            (
                "Patterns",
                f"If a value in {the_columns(sensitive, 'or')} is common among people of one kind,"
                " it is likelier for each of them. No release that is of any use prevents this"
                " conclusion.",
            )
        )
    if HOLDERS in models:
        rows += _OF_TABLES
    if models & set(_LIKENESS):
        rows.append(
            ("Likeness", "Different values may mean nearly the same, and are counted as different.")
        )
    rows += [
        (
            "The rule of the method",
            "Who knows how the groups were made can sometimes exclude combinations.",
        ),
        (
            "Data from elsewhere",
            "Tables about the same people that others published were not considered.",
        ),
    ]
    if not people:
        rows.append(
            ("People with several records", "What holds for records need not hold for people.")
        )
    if not grouped:
        text = (
            "What others may know is published exactly, so people can be found."
            if exact
            else "Groups of this form do not limit the chance to find a person by its records."
        )
        rows.append(("Identity", text))
    rows.append(
        ("Not differential privacy", "There is no bound that holds against every attacker.")
    )
    return [parts.Text(name=name, text=text) for name, text in rows]
