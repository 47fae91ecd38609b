"""The page of a report: one file that loads and runs nothing, made from the document alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from pganon.policy.reporting import AUTHORITIES
from pganon.report import authority
from pganon.report.charts import bars, lines
from pganon.report.figures import limit_words
from pganon.report.subgroups import chance_bars, chance_rows
from pganon.report.template import Document, render
from pganon.report.words import (
    count,
    day,
    exactly,
    listed,
    number,
    once,
    percent,
    plain,
    sentence,
    several,
    the_columns,
    value,
)


def page(report: Document) -> str:
    """The page.

    Raises:
        PreconditionError: no_jinja2.
    """
    return render("page.html.j2", report, _drawings(report), words=sentences(report))


def _drawings(report: Document) -> dict[str, Any]:
    sizes, counted = report["class_sizes"], report["properties"]["members"]
    return {
        "risk": lines.risk(report["risk"]),
        "sizes": bars.sizes(sizes["release"], sizes["source"], counted)
        if sizes["release"]
        else None,
        "chances": chance_bars(report),
        "candidates": [
            bars.sizes(one, None, counted, f"{one['kind']} that remain")
            for one in report["candidates"]
        ],
        "by_value": [lines.values(item) for item in report["sensitive"]],
        "commonest": [bars.commonest(item, counted) for item in report["sensitive"]],
        "distributions": [
            bars.distribution(item["distribution"]) if item["distribution"] else None
            for item in report["attributes"]
        ],
        "queries": lines.errors(report["queries"]),
        "versions": bars.versions(report["versions"]["versions"], report["properties"]["rows"]),
    }


# -- sentences ------------------------------------------------------------------------------------


_MODELS = {
    "k-anonymity": "Every group has at least k records (Samarati 2001, Sweeney 2002). Says nothing"
    " about what the members of a group have in common.",
    "(alpha, k)-anonymity": "No value of the protected column is in more than the share alpha of a"
    " group (Wong and others 2006). Does not compare with the whole: a rare value may reach alpha.",
    "distinct l-diversity": "Every group has at least l different values of the protected column"
    " (Machanavajjhala and others 2007). Does not look at how frequent they are, nor whether they"
    " are alike.",
    "entropy l-diversity": "The values of every group are as mixed as l equally common ones"
    " (Machanavajjhala and others 2007). Does not look at whether they are alike.",
    "recursive (c, l)-diversity": "The most common value of a group is not too common beside the"
    " rarer ones (Machanavajjhala and others 2007). Does not compare with the whole.",
    "t-closeness": "The shares of a group are near those of everybody (Li and others 2007). A rare"
    " value may become many times as common.",
    "beta-likeness": "No value becomes much more common in a group than among everybody (Cao and"
    " Karras 2012). Does not look at values that a group lacks.",
    "delta-disclosure": "No value becomes much more or less common in a group than among everybody"
    " (Brickell and Shmatikov 2008). Says nothing about the size of a group.",
}

_CENTRES = ("mean", "mode")

NOT_TOLD = "not told, as few are left out"


def sentences(report: Document) -> dict[str, Any]:
    properties = report["properties"]
    request = properties["request"]
    which = f"version {properties['version']}" if request is None else f"request {request}"
    proof = report["proof"]
    row = proof["ledger_row"]
    text = f"rows {proof['ledger_first']} to {proof['ledger_last']}; run {proof['run']}"
    return {
        "title": f"Disclosure report: {plain(properties['release'])}, {which}",
        "which": which,
        "not_told": NOT_TOLD,
        "knowing": properties["knowing"],
        "exactly": sentence(exactly(properties["known"])),
        "remaining": [_remaining(item, properties["members"]) for item in report["candidates"]],
        "sensitive": the_columns(properties["sensitive"], "or"),
        "goes_out": _goes_out(report),
        "about": authority.declared(report["about"]),
        "headings": authority.shown(report, NOT_TOLD if properties["withheld"] else "not measured")
        if "authority" in report
        else [],
        "readers": _readers(report),
        "tried": _tried(report["attacks"]),
        "risk": lines.risk_title(report["risk"]) if report["risk"]["release"] else "",
        "alone": _alone(report),
        "sizes": smallest(report["risk"]["release"]) if report["risk"]["release"] else "",
        "above": _above(report),
        "population": _population(report),
        "chances": chance_rows(report),
        "limits": [limit_words(name) for name in report["risk"]["limits"]],
        "origin": _origin(report),
        "of_values": [_of_values(item, properties["members"]) for item in report["sensitive"]],
        "by_value": [lines.values_title(item) for item in report["sensitive"]],
        "commonest": [commonest(item) for item in report["sensitive"]],
        "required": required(report["guarantee"]),
        "models": [
            (name, _MODELS[name])
            for name in dict.fromkeys(one["name"] for one in report["guarantee"])
            if name in _MODELS
        ],
        "lost": _lost(report),
        "exact": [
            "exact" if properties["exact"] else _exact(item) for item in report["attributes"]
        ],
        "errors": [_error(item) for item in report["attributes"]],
        "queries": _queries(
            report["queries"], possible=properties["asked"], withheld=properties["withheld"]
        ),
        "versions": _versions(report),
        "guard": _guard(report["versions"]["guard"]),
        "candidates": f"{several(report['versions']['candidates'], 'candidate')} with other methods"
        " or parameters were measured for this release before.",
        "ledger": (text if row is None else f"{text}; this version: row {row}"),
    }


# -- of either edition --------------------------------------------------------------------------


def smallest(sizes: Document) -> str:
    return f"Nobody is in a group of fewer than {count(sizes['smallest'])}"


def commonest(item: Document) -> str:
    return f"On average {percent(item['mean'])} of a group share its most common value"


def of_each_limit(report: Document, above: Mapping[str, int | None]) -> str:
    people, texts = report["properties"]["members"], []
    for limit in report["risk"]["limits"]:
        held, have = above[limit], f"{people} have a chance above {limit_words(limit)}"
        told = f"{count(held) if held else 'no'} {have}"
        texts.append(f"how many {have} is not told" if held is None else told)
    return listed(texts)


def required(checks: Sequence[Document]) -> list[tuple[str, list[int]]]:
    """What is required, and at which places of the guarantee: once, if of several columns."""
    found: dict[tuple[Any, ...], list[int]] = {}
    for place, one in enumerate(checks):
        alike = [one.get(key) for key in ("name", "against", "required", "over_versions")]
        same = one["sentence"].replace(the_columns([one["published"] or ""]), "{}")
        found.setdefault((same, *alike), []).append(place)
    return [
        (_of_all([checks[place] for place in places], same), places)
        for (same, *_), places in found.items()
    ]


def _of_all(checks: Sequence[Document], same: str) -> str:
    if len(checks) == 1:
        return checks[0]["sentence"]
    names = the_columns([one["published"] or "" for one in checks])
    return same.replace("{}", f"{names}, each by itself")


# -- of the officer's ---------------------------------------------------------------------------


def _tried(attacks: Document | None) -> str:
    if attacks is None:
        return ""
    people, held = count(attacks["targets"]), count(attacks["control_people"])
    text = (
        f"On {day(datetime.fromisoformat(attacks['at']))} attacks were tried on a release that this"
        f" policy made anew of the same data, on {people} of its people, drawn. They were tried"
        f" again on a release from which {held} people were held out: on {people} in it, and on"
        f" {people} held out."
    )
    if attacks["times"] == 1:
        return text
    return f"{text} Attacks were measured {count(attacks['times'])} times; these are the last ones."


def _goes_out(report: Document) -> str:
    out = [one for one in report["columns"] if one["goes_out"]]
    stay = len(report["columns"]) - len(out)
    known = report["properties"]["knowing"]
    each = "person" if report["properties"]["rows"] == "people" else "record"
    text = f"{several(len(out), 'column')} {'goes' if len(out) == 1 else 'go'} out."
    if report["risk"]["release"]:
        text += f" Every row is one {each}; rows of a group cannot be told apart by {known}."
    if stay:
        text += (
            f" {several(stay, 'column')} of the source {'stays' if stay == 1 else 'stay'} behind."
        )
    return text


def _readers(report: Document) -> str:
    readers = report["properties"]["readers"]
    if not readers:
        return "No role was named as a reader."
    named = "One role was named as a reader" if len(readers) == 1 else "Roles named as readers"
    able = {one["role"] for one in report["access"]}
    others = len(able - set(readers))
    more = (
        f" {several(others, 'other role')} can read it, too, for the reasons below."
        if others
        else ""
    )
    return f"{named}: {listed(readers)}.{more}"


def _alone(report: Document) -> str:
    source, sizes = report["risk"]["source"], report["class_sizes"]["source"]
    if source is None or not sizes:
        return ""
    known, people = report["properties"]["knowing"], report["properties"]["members"]
    if source["alone"] is None:
        return f"How many {people} of the source are alone in {known} is not told."
    if source["alone"] == 0:
        return f"In the source nobody is alone in {known}."
    share = source["alone"] / sizes["people"]
    return f"In the source, {percent(share)} of the {people} are alone in {known}."


def _above(report: Document) -> str:
    sizes = report["class_sizes"]["release"]
    if not sizes:
        return "How many are above the limits was not measured."
    return f"In the release {of_each_limit(report, sizes['above'])}."


def _population(report: Document) -> str:
    found = report["risk"]["population"]
    if not found:
        return ""
    least, presence = found["smallest"], found["presence"]
    by = "By the weights of its records, every" if found["by_weights"] else "Every"
    people = several(least, "person", "people") if least else "nobody"
    like = (
        f"{by} group looks like at least {people}" if least else f"Some groups look like {people}"
    )
    told = of_each_limit(report, found["above"])
    text = f"{like} of the population. Looked for among all its people, {told}."
    if presence is None:
        return text
    often = ""
    if presence["p95"] is not None:
        often = f", for one in twenty with at least {percent(presence['p95'])}"
    return (
        f"{text} Whoever has a list of the population knows that somebody of it is in the data"
        f" with a chance of at most {percent(presence['highest'])}{often}."
    )


def _origin(report: Document) -> str:
    if list(report["risk"]["limits"].values()) != list(AUTHORITIES):
        return "The policy declares them as accepted (report: limits)."
    return (
        "9 % is the highest chance that the European Medicines Agency (Policy 0070) and Health"
        " Canada accept for clinical reports. Groups of 12 or more are within it. It is about what"
        " the US Medicare and Medicaid agency (CMS) holds to, which publishes no cell with fewer"
        f" than 11 people: {once(11)}. These are limits for publication to everybody; a board may"
        " allow more to readers under contract."
    )


def _of_values(item: Document, people: str) -> str:
    """Whose values are counted, which of them are, and which are not named."""
    whole, texts, others = people, [], item["others"]
    if item.get("of") == "hidden":
        whole = f"{people} {'who hide' if people == 'people' else 'that hide'} it"
        texts.append("Shares are of those who hide it.")
    if item["missing"]:
        named = " and ".join(f"“{value(one)}”" for one in item["missing"])
        texts.append(f"{named} counts as missing, and not as a value that a group has in common.")
    if others and not item["values"]:
        texts.append(
            f"None of its {count(others['values'])} values is named here, as some of them are too"
            " rare."
        )
    elif others:
        texts.append(
            f"{count(others['values'])} rarer values, which {percent(others['share'])} of the"
            f" {whole} have together, are not named in this report."
        )
    return " ".join(texts)


def _lost(report: Document) -> str:
    version = report["properties"]
    known = the_columns(version["known"])
    be = "is" if len(version["known"]) == 1 else "are"
    text = (
        f"Nothing was invented: {known} {be} as before, and which value in"
        f" {the_columns(version['sensitive'], 'or')} belongs to whom is lost."
        if version["exact"]
        else f"Nothing was invented: {known} {be} less exact, everything else is as it was."
    )
    if version["suppressed"] == 0:
        return f"{text} No record was left out."
    return (
        f"{text} {count(version['suppressed'])} records"
        f" ({percent(version['left_out'])}) were left out."
    )


def _exact(item: Document) -> str:
    if item["form"] is None:
        return "not measured"
    if item["exact"] is None:
        return "a value in the middle of the group" if item["form"] in _CENTRES else NOT_TOLD
    whose = " that show it" if item.get("of") == "shown" else ""
    text = f"exact for {percent(item['exact'])} of the records{whose}"
    width = item["width"]
    if width is None or item["exact"] == 1:
        return text
    match item["unit"]:
        case "levels":
            return f"{text}; on average {number(round(width, 1))} levels up the hierarchy"
        case "values":
            return f"{text}; {number(round(width, 1))} values remain possible on average"
        case "days":
            shown = (
                several(round(width), "day") if width < 730 else f"{number(width / 365.25)} years"
            )
            return f"{text}; a range spans {shown} on average"
        case _:
            return f"{text}; a range spans {number(round(width, 1) or width)} on average"


def _error(item: Document) -> str:
    error = (item["distribution"] or {}).get("largest_error")
    if error is None:
        return ""
    whose = "Of those who show it. " if item.get("of") == "shown" else ""
    if error < 0.0005:
        return f"{whose}No difference."
    return f"{whose}Largest error: {number(100 * error)} percentage points."


def _remaining(item: Document, members: str) -> dict[str, str]:
    """Title and note of a chart."""
    left = several(item["smallest"], item["kind"].removesuffix("s"), item["kind"])
    return {
        "title": f"At least {left} in {the_columns(item['columns'])} remain",
        "note": f"Per cent of the {members} by how many {item['kind']} their group has.",
    }


def _queries(found: Document | None, *, possible: bool, withheld: bool) -> str:
    if possible and withheld:
        return f"{sentence(NOT_TOLD)}."
    if not possible:
        return "Not measured: random questions are not asked of releases of this form."
    if found is None or found["median"] is None:
        return "Not measured: no random questions were asked (pganon run with a workload)."
    asked = found["asked"]
    text = (
        f"Of {count(asked['queries'])} random counts with"
        f" {several(asked['predicates'], 'condition')}, half were off"
        f" by less than {percent(found['median'])}"
    )
    if found.get("most") is not None:
        text += (
            f", the middle half by {percent(found['quarter'])} to"
            f" {percent(found['three_quarters'])}, and one in twenty by more than"
            f" {percent(found['most'])}"
        )
    return f"{text}. The average error was {percent(found['mean'])}."


def _versions(report: Document) -> str:
    versions = [one for one in report["versions"]["versions"] if one["version"] is not None]
    return f"{several(len(versions), 'version')} so far" if versions else "No version so far"


def _guard(figures: Mapping[str, int]) -> list[str]:
    if not figures:
        return []
    return [
        f"{count(figures['guard_shared'])} people were in groups before. The fewest who have the"
        f" same groups in all versions are {count(figures['guard_smallest'])};"
        f" {count(figures['guard_below_k'])} are with fewer than a version promises them."
    ]
