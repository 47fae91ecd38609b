"""The text of a first policy: YAML with comments."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from importlib.resources import files
from typing import Any

from pganon.catalog import combinations, hash_sample
from pganon.catalog.introspect import DEFAULT_SCHEMA
from pganon.catalog.statistics import SAMPLE_ROWS, Facts
from pganon.identifiers import MAX_BYTES, QualifiedName, fits
from pganon.policy.first_tables import BETA, FirstTables
from pganon.policy.guess import Guess, keeps_records_together, needs_sensitive
from pganon.policy.options import MethodOptions
from pganon.policy.registry import Registry
from pganon.policy.scaffold import DECIDES, FirstPolicy
from pganon.policy.tasks import DECIDE, TASKS, Start
from pganon.policy.words import HIDDEN, NOBODY, UNPUBLISHED_ROLES

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
# Words that some reader of YAML takes for a boolean or null.
_TAKEN = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})
LONGEST_RELEASE = 40
LEAST_L = 2
MOST_NAMED = 10
_ADDED = len("_values_")
"""The longest of what is added to the name of a column: `_bucket`, `_null`, `_high`."""
_SHORT = 22
"""Bytes of a column of events that is called otherwise."""
_OF_EVENTS = ("sensitive", "insensitive")
_PARTS = ("groups", "rows")
_LONGEST_PART = "group_id"
"""Of what is added to the name of a related table, beside columns."""
_WHY_K = "  # 1/12 is below 9 %, which regulators take for the highest risk; 5 and 10 are not"
_TOLD = tomllib.loads(files("pganon.policy").joinpath("first_policy.toml").read_text("utf-8"))


def _told(key: str, **words: object) -> list[str]:
    """Lines of a text of the file."""
    return _TOLD[key].format(**words).splitlines()


def policy_text(policy: FirstPolicy, registry: Registry, again: bool | None = None) -> str:
    """YAML of a policy that loads and checks.

    Args:
        again: whether the table will be released again; None if nobody said.
    """
    method, start = registry.tasks[policy.task]
    name = policy.observed.relation.name
    return _sections(
        [*_told("head", **vars(start), what=TASKS[policy.task]), *_about_guesses(policy)],
        [
            f"release: {_scalar(_release_name(name.name))}",
            f"source: {_scalar(str(name))}",
            *_trust_lines(policy.trusted),
        ],
        [
            *_about_roles(method),
            "columns:",
            *_all_column_lines(policy, method),
            *_measured_lines(policy),
        ],
        ["privacy:", *_privacy_lines(policy, method, start)],
        [
            f"method: {{name: {registry.method_for(policy.task)}}}",
            *(f"{key}: {value}  # {why}" for key, (value, why) in start.keys.items()),
            f"suppression_limit: {start.suppression_limit}"
            "   # share of records that may be left out",
            *_individual_lines(policy, method),
            *_again_lines(policy, start, again),
            *_told("publish"),
        ],
    )


def tables_text(tables: FirstTables, registry: Registry, again: bool | None = None) -> str:
    """The same of a policy about related tables."""
    policy, method = tables.root, registry.methods[tables.method]
    name, names = policy.observed.relation.name, _table_names(tables)
    kept = tables.apart if tables.tells and tables.kept_apart else None
    if kept is not None:
        guess = policy.guesses[kept]
        keys = {**guess.keys, "apart": True}
        policy = replace(policy, guesses={**policy.guesses, kept: replace(guess, keys=keys)})
    added = {"group_id", *[f"{names[t]}_group_id" for t, own in tables.rare.items() if own]}
    return _sections(
        [*_told("head_of_tables", root=name), *_about_guesses(policy)],
        [f"release: {_scalar(_release_of(tables))}", *_trust_lines(policy.trusted)],
        [
            *_about_roles(method, "weight"),
            "tables:",
            f"  {_scalar(names[name])}:  # a row for each of {tables.people} people",
            f"    source: {_scalar(str(name))}",
            f"    key: {_key(tables.around.keys[name])}",
            "    columns:",
            *[f"    {line}" for line in _all_column_lines(policy, method, added)],
            *_apart_lines(tables),
            *_events_lines(tables, names),
            *_lookup_lines(tables, names),
            *_left_lines(tables),
            *_measured_lines(policy),
        ],
        [
            "privacy:",
            *_privacy_lines(policy, method, registry.tasks[policy.task][1]),
            f"  - {flow({'model': 'event_share', 'beta': float(BETA)})}"
            "  # of who has rows, at most this share has a sensitive value",
        ],
        [
            f"method: {{name: {tables.method}}}",
            f"group_size: {tables.group_size}  # fewest people of whom values are told together",
            *(_told("tables_again") if again else _told("tables_once") if again is None else ()),
            *_told("publish"),
        ],
    )


def _sections(*sections: Sequence[str]) -> str:
    return "\n\n".join("\n".join(lines) for lines in sections) + "\n"


def _table_names(tables: FirstTables) -> dict[QualifiedName, str]:
    """Names of tables in the policy, which are parts of names of views."""
    relations = [tables.around.root.name, *tables.events, *tables.lookups]
    room = MAX_BYTES - len(f"{_release_of(tables)}__{_LONGEST_PART}".encode())
    names: dict[QualifiedName, str] = {}
    taken = {"groups", "flat", "people", "persons", "group_id"}
    for number, one in enumerate(relations):
        tried = (one.name, f"{one.schema}_{one.name}", f"table_{number}")
        names[one] = next(
            name
            for name in tried
            if name not in taken and name.isprintable() and len(name.encode()) <= room
        )
        # Views of its groups and rows, which another table could be called.
        taken |= {names[one], f"{names[one]}_groups", f"{names[one]}_rows"}
    return names


def _key(columns: Sequence[str]) -> str:
    names = [_scalar(name) for name in columns]
    return names[0] if len(names) == 1 else f"[{', '.join(names)}]"


def _apart_lines(tables: FirstTables) -> Iterator[str]:
    if tables.apart is None:
        return
    name = _comment(tables.apart)
    told = f"{tables.tells} of the sensitive values of events tell {name}"
    if not tables.tells:
        yield f"      #   {name}: add apart: true if events, such as wards or diagnoses, tell it"
    elif tables.kept_apart:
        yield f"      #   {told}, so groups keep it apart"
    else:
        yield f"      #   {told}, and some of it are too few to be kept apart"


def _events_lines(tables: FirstTables, names: Mapping[QualifiedName, str]) -> Iterator[str]:
    taken = {*names.values(), *[f"{n}_{part}" for n in names.values() for part in _PARTS]}
    for name, events in tables.events.items():
        counts, called = events.counts, names[name]
        yield f"  {_scalar(called)}:  # {counts['read']} rows, of {counts['holders']} people"
        yield f"    source: {_scalar(str(name))}"
        if any(way.target == name for one in tables.events.values() for way in one.ways):
            yield f"    key: {_key(tables.around.keys[name])}"
        if all(len(way.columns) == 1 for way in events.ways):
            ways = {way.columns[0]: names[way.target] for way in events.ways}
            yield f"    references: {flow(ways)}"
        else:
            yield "    references:"
            for way in events.ways:
                target = _scalar(names[way.target])
                yield f"      - {{columns: {_key(way.columns)}, table: {target}}}"
        if counts["orphans"]:
            yield "    orphans: leave_out  # " + (
                f"{counts['orphans']} rows lead to nobody: correct them, or leave them out"
            )
        if tables.rare.get(name):
            yield "    groups: own  # few people have rows; not for what follows from others"
        elif name in tables.rare:
            yield "    #   few people have rows, which makes all groups large: leave it out?"
        yield "    columns:"
        for column, guess in events.guesses.items():
            keys_of = dict(guess.keys)
            if "references" in keys_of:
                keys_of["references"] = names[keys_of["references"]]
            if guess.role in _OF_EVENTS:
                shown = _published_name(tables, called, column, taken)
                taken.add(f"{called}_{shown}")
                keys_of |= {"as": shown} if shown != column else {}
            line = replace(guess, keys=keys_of, codes=False)
            for text in _column_lines(_scalar(column), line, {}, events.facts.get(column)):
                yield f"    {text}"
        if sum(guess.role in _OF_EVENTS for guess in events.guesses.values()) > 1:
            yield "    # together: [[one, other]]  # if readers need both values of the same row"


def _published_name(tables: FirstTables, table: str, column: str, taken: Collection[str]) -> str:
    """The name of a column of events, or one beside which all views have names of their own."""
    room = MAX_BYTES - len(f"{_release_of(tables)}_{table}_".encode())
    tried = [column, *[_cut(column, min(room, _SHORT), f"_{number}") for number in range(2, 100)]]
    added = {"persons", "group_id", f"{table}_group_id"}
    return next(
        name
        for name in tried
        if f"{table}_{name}" not in taken and name not in added and len(name.encode()) <= room
    )


def _lookup_lines(tables: FirstTables, names: Mapping[QualifiedName, str]) -> Iterator[str]:
    for name, guesses in tables.lookups.items():
        (key,) = tables.around.keys[name]
        columns = {c: {} for c, g in guesses.items() if g.role is not None and c != key}
        yield f"  {_scalar(names[name])}:"
        yield f"    source: {_scalar(str(name))}"
        yield "    people: none  # published as it is"
        yield f"    key: {_scalar(key)}"
        yield f"    columns: {flow(columns)}"
        for column, guess in guesses.items():
            if guess.role is None:
                yield f"    # {_scalar(column)}: not released  # {_comment(guess.reason)}"


def _left_lines(tables: FirstTables) -> Iterator[str]:
    if tables.around.left:
        yield ""
        yield "# Tables beside these that foreign keys connect with them, left out:"
    for name, why in tables.around.left.items():
        yield f"#   {_comment(str(name))}: {_comment(why)}"


def _about_guesses(policy: FirstPolicy) -> Iterator[str]:
    """What guesses are made of, and which of many columns matter, before all of them."""
    yield from _told("guesses", rows=SAMPLE_ROWS)
    if policy.observed.relation.row_security:
        yield from _told("row_security")
    if len(policy.ranked) <= MOST_NAMED:
        return
    first = policy.ranked[:MOST_NAMED]
    together = [c.with_those_before for c in first if c.with_those_before is not None][-1:]
    told = f", together {together[0].separation:.4f} of the pairs of rows" if together else ""
    names = ", ".join(_comment(column.name) for column in first)
    counts = {"all": len(policy.ranked), "named": MOST_NAMED}
    yield from _told("many", together=told, columns=names, **counts)


def _about_roles(method: type[MethodOptions], *others: str) -> list[str]:
    unused = {*others} if keeps_records_together(method) else {"individual", *others}
    return [
        f"# {role}: {what}"
        for role, what in _TOLD["roles"].items()
        if role in method.roles - unused
    ]


def _trust_lines(trusted: Sequence[str]) -> list[str]:
    if not trusted:
        return []
    return [f"trust: [{', '.join(map(_scalar, trusted))}]  # roles whose code may run as this one"]


def _individual_lines(policy: FirstPolicy, method: type[MethodOptions]) -> list[str]:
    names = [_scalar(name) for name in policy.observed.person]
    if keeps_records_together(method) and len(names) < 2:  # the role says it
        return []
    if not names:
        return ["# individual: person_id  # the identifying column that tells people apart"]
    key = names[0] if len(names) == 1 and names[0] != NOBODY else f"[{', '.join(names)}]"
    return [f"individual: {key}  # whose record it is; none if that tells no people apart"]


def _again_lines(policy: FirstPolicy, start: Start, again: bool | None) -> Iterator[str]:
    """How later versions follow the first, and what becomes of people who leave."""
    relation, name = policy.observed.relation, _release_name(policy.observed.relation.name.name)
    declared = "refresh" in start.keys
    if not (again or declared):
        if again is None and start.grows:
            yield from _told("once")
        return
    if not policy.observed.person and not relation.primary_key:
        yield from [*_told("no_key"), *(() if declared else _told("refresh_later"))]
        return
    if not declared:
        yield from _told("refresh")
    yield from _told("leavers", name=_comment(name))


def _all_column_lines(
    policy: FirstPolicy, method: type[MethodOptions], added: Collection[str] = ()
) -> Iterator[str]:
    observed = policy.observed
    shorter = _shorter_names(policy, method, added)
    for column in observed.relation.columns:
        name = _scalar(column.name)
        guess = policy.guesses.get(column.name)
        if guess is None:
            yield f"  # {name}: left out, {_comment(observed.why_not[column.name])}"
            continue
        keys = {"as": shorter[column.name]} if column.name in shorter else {}
        yield from _column_lines(name, guess, keys, observed.facts.get(column.name))
        flag = observed.flags.get(column.name)
        if flag is not None and "semi_sensitive" not in method.roles:
            decide = flow({"role": "semi_sensitive", "sensitive_when": flag.sensitive_when})
            yield (
                f"  #   {_comment(flag.name)} seems to say for whom {_comment(column.name)} is"
                f" sensitive. With --task {DECIDE} people decide: {decide}"
            )


def _shorter_names(
    policy: FirstPolicy, method: type[MethodOptions], added: Collection[str]
) -> dict[str, str]:
    """Published names for columns whose own leave no room for what a method adds to them, or are
    those of columns that are added."""
    room = MAX_BYTES - _ADDED
    if "semi_sensitive" in method.roles:  # a view of each has the name of the release in its own
        room -= len(_release_name(policy.observed.relation.name.name).encode())
    names = [column.name for column in policy.observed.relation.columns]
    shorter: dict[str, str] = {}
    for number, name in enumerate(names, start=1):
        guess = policy.guesses.get(name)
        if guess is None or guess.role in (None, *UNPUBLISHED_ROLES):
            continue
        if len(name.encode()) <= room and name not in added:
            continue
        shorter[name] = _cut(name, room, f"_{number}")
    return shorter


def _cut(name: str, room: int, end: str) -> str:
    """Its beginning with an end, in so many bytes."""
    return name.encode()[: room - len(end)].decode(errors="ignore") + end


def _column_lines(
    name: str, guess: Guess, keys: Mapping[str, str], facts: Facts | None
) -> Iterator[str]:
    comment = _comment(guess.reason) + _counts(facts)
    if guess.role is None:
        yield f"  # {name}: not released  # {comment}"
    else:
        yield f"  {name}: {flow({'role': guess.role, **keys, **guess.keys})}  # {comment}"
    for key, word in guess.keys.get("hierarchy", {}).items():
        if isinstance(word, str):  # a ready one
            form = f"{key}: {word}"
            yield f"  #   all values of a sample are {form}; add other: true if some may not be"
    if guess.codes and guess.role not in UNPUBLISHED_ROLES:
        yield "  #   few numbers; if they are codes, add type: categorical"


def _counts(facts: Facts | None) -> str:
    if facts is None or facts.rows == 0:
        return ""
    nulls = 100 * (facts.rows - facts.present) / facts.rows
    share = f", {nulls:.0f} % null" if nulls >= 0.5 else ", some null" if nulls else ""
    values = "value" if facts.distinct == 1 else "values"
    return f"; {facts.distinct} {values}{share}"


def _measured_lines(policy: FirstPolicy) -> Iterator[str]:
    """Which columns decide sensitive ones, and how well columns tell rows apart."""
    if policy.decided:
        yield from _told("decided")
    for dependency in policy.decided:
        name, sensitive = _comment(dependency.other), _comment(dependency.one)
        if dependency.decides >= DECIDES:
            what = f"{name} decides {sensitive} ({dependency.decides:.2f})"
        else:
            what = f"{name} follows from {sensitive} ({dependency.decided:.2f})"
        yield f"#   {what}: leave {name} out, or make it sensitive, too"
    if not policy.ranked:
        return
    width = max(len(_comment(column.name)) for column in policy.ranked)
    title = {"empty": " " * width, "alone": "alone", "above": "with those above"}
    yield from _told("ranking", rows=hash_sample.SAMPLE_ROWS, **title)
    for place, column in enumerate(policy.ranked):
        idle = "adds little" if place < combinations.MOST_COLUMNS else "not compared"
        pair = _measures(column.with_those_before) if column.with_those_before else idle
        yield f"#   {_comment(column.name):{width}}  {_measures(column.by_itself)}  {pair:>16}"


def _measures(counts: combinations.Combinations) -> str:
    return f"{counts.distinction:.4f}  {counts.separation:.4f}"


def _privacy_lines(policy: FirstPolicy, method: type[MethodOptions], start: Start) -> Iterator[str]:
    for model in start.about_all:
        yield f"  - {flow(model)}{_WHY_K if model.get('k') == 12 else ''}"
    for name, guess in policy.guesses.items():
        if guess.role not in HIDDEN:
            continue
        facts = policy.observed.facts.get(name)
        # One value in the whole table can never be diverse; the line is there to be seen.
        idle = facts is not None and facts.distinct < LEAST_L and not needs_sensitive(method)
        for model in start.about_each:
            yield f"  {'# ' if idle else ''}- {flow(_about(name, model, facts))}"


def _about(name: str, model: Mapping[str, Any], facts: Facts | None) -> dict[str, Any]:
    """A model about a column; there are no more different values in a group than in the table."""
    parameters = {key: value for key, value in model.items() if key != "model"}
    if facts is not None and "l" in parameters:
        parameters["l"] = max(LEAST_L, min(parameters["l"], facts.distinct))
    return {"model": model["model"], "column": name, **parameters}


def _release_of(tables: FirstTables) -> str:
    """Related tables are called after their schema."""
    name = tables.around.root.name
    return _release_name(name.name if name.schema == DEFAULT_SCHEMA else name.schema)


def _release_name(name: str) -> str:
    if not name.isprintable() or len(name.encode()) > LONGEST_RELEASE or not fits(name):
        return "release"
    return name


def flow(value: object) -> str:
    """Plain data as YAML writes it on one line."""
    if isinstance(value, Mapping):
        pairs = [f"{_scalar(str(key))}: {flow(item)}" for key, item in value.items()]
        return f"{{{', '.join(pairs)}}}"
    return _scalar(value) if isinstance(value, str) else json.dumps(value)


def _scalar(text: str) -> str:
    """A text as YAML writes it on one line: bare where every reader takes it for a text."""
    if _PLAIN.match(text) and text.lower() not in _TAKEN:
        return text
    if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*\.[A-Za-z_][A-Za-z0-9_]*", text):
        return text
    return json.dumps(text, ensure_ascii=not text.isprintable())


def _comment(text: str) -> str:
    return "".join(char if char.isprintable() else "?" for char in text)
