"""What is not protected, in words."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from pganon.identifiers import quote
from pganon.policy.reporting import Limit
from pganon.report import figures, guarantee, parts
from pganon.report.parts import Named, Outcome, Status
from pganon.report.sources import Collected
from pganon.report.words import count, percent, plain, sentence, the_columns
from pganon.resolved.tables import HOLDERS

_LIKENESS = ("distinct_l_diversity", "entropy_l_diversity", "recursive_cl_diversity")
_TOGETHER = "Values that go together"
_OF_TABLES = (
    (
        _TOGETHER,
        "Who knows a value that tells much of somebody may conclude another one.",
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
    rows = limits_of(
        models={requirement.model.name for requirement in found.requirements}
        | {one.get("model", "") for one in found.guarantee},
        sensitive=found.of_role("sensitive", "semi_sensitive"),
        insensitive=found.of_role("insensitive"),
        people=found.counts_people,
        grouped=figures.chance(found) is not None,
        exact=figures.exact(found),
    )
    together = _together(found)
    return [
        row.model_copy(update={"text": row.text + together}) if row.name == _TOGETHER else row
        for row in rows
    ]


def _together(found: Collected) -> str:
    """How often a value of somebody tells another one, by table."""
    telling = (found.evidence or {}).get("telling", {})
    each = [
        f"{'few or nearly all' if one['told'] is None else one['told']} of {one['values']} values"
        f" of {quote(table)}"
        for table, one in telling.items()
    ]
    if not each:
        return ""
    return (
        " Of the values that one person of a group has alone, who knows another one of theirs, and"
        " how often values go together, believes the true one with more than half:"
        f" {', '.join(each)}."
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


HOLDS: Status = "holds"
LOOK: Status = "look"
NONE: Status = "none"
IDLE = "does not apply"
_UNMEASURED = "no run measured it"


def outcome(found: Collected) -> list[Outcome]:
    return [_smallest(found), _chance(found), _common(found), _left_out(found)]


def _smallest(found: Collected) -> Outcome:
    chance, combinations = figures.chance(found), figures.combinations(found)
    if chance is not None:
        required = guarantee.fewest_people(found)
        one = "person" if found.members == "people" else "record"
        smallest = f"{count(chance.smallest)} {one if chance.smallest == 1 else found.members}"
        label = "Smallest group"
    elif combinations:  # where these are counted, and not people who look the same
        required = guarantee.fewest_combinations(found)
        smallest = count(min(one["smallest"] for one in combinations))
        label = "Fewest combinations that remain"
    else:
        return _exactly(found, "smallest", "Smallest group")
    result = _bounded("holds" if required > 1 else None)
    return row("smallest", label, smallest, f"required: {count(required)}", *result)


def _bounded(holds: str | None) -> tuple[str, Status]:
    return ("no limit is required", LOOK) if holds is None else (holds, HOLDS)


def _chance(found: Collected) -> Outcome:
    chance = figures.chance(found)
    if chance is None:
        return _exactly(found, "chance", "Highest chance to find a person")
    return chance_row(chance.smallest, found.policy.report.accepted)


def chance_row(smallest: int, accepted: Sequence[Limit]) -> Outcome:
    """The chance to find a person in the smallest group, of either edition."""
    limits, said = figures.against_limits(smallest, accepted)
    status = LOOK if figures.exceeded(smallest, accepted) else HOLDS
    label = "Highest chance to find a person"
    return row("chance", label, percent(1 / smallest), limits, said, status)


def _common(found: Collected) -> Outcome:
    """From the evidence, or from the figures of every run."""
    item, shares = figures.commonest(found), found.utility.most if found.utility else {}
    label = "Most common sensitive value in a group"
    if item is not None:
        column, most, where = item["column"], item["most"], "group"
        note = f"at most; on average {percent(item['mean'])}"
    elif shares:
        column = max(shares, key=lambda name: shares[name])
        most, where, note = shares[column], "group or bucket", "at most"
    elif event := guarantee.commonest_event(found):
        label = f"Most common value of {plain(event['column'], 30)}, of who has rows in a group"
        limit = f"limit {percent(event['required'])} holds"
        return row("common", label, percent(event["measured"]), "at most", limit, HOLDS)
    elif found.of_role("sensitive", "semi_sensitive"):
        return row("common", label, "?", _UNMEASURED, "not measured", NONE)
    else:
        return row("common", label, "none", "no column is declared as sensitive", IDLE, NONE)
    limit = guarantee.most_of(found, column, figures.largest(item))
    result = _bounded(None if limit is None or limit >= 1 else f"limit {percent(limit)} holds")
    return row("common", common_label(column, where), percent(most), note, *result)


def common_label(column: str, where: str = "group") -> str:
    return f"Most common value in the column {plain(column, 30)}, in a {where}"


def _left_out(found: Collected) -> Outcome:
    version, share = found.version, figures.left_out(found)
    return row(
        "left_out",
        "Records left out",
        count(version.suppressed),
        f"of {count(version.released + version.suppressed)} in the source",
        "none" if version.suppressed == 0 else percent(share),
        LOOK if share > figures.LEFT_OUT else HOLDS,
    )


def _exactly(found: Collected, name: Named, label: str) -> Outcome:
    """Where no group of people who look the same is published."""
    if found.apart:
        return row(name, label, "none", found.apart, IDLE, NONE)
    if figures.exact(found):
        note = "what others may know is published exactly"
        return row(name, label, "exact", note, "not limited", LOOK)
    why = "groups of this form do not say it" if found.measured else _UNMEASURED
    return row(name, label, "?", why, "not measured", NONE)


def row(name: Named, label: str, figure: str, note: str, result: str, status: Status) -> Outcome:
    return Outcome(name=name, label=label, figure=figure, note=note, result=result, status=status)
