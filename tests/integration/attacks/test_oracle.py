"""Every figure of `pganon attack` against its definition, over published rows of all forms."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from hashlib import sha256
from typing import Any

import pytest
from psycopg.rows import dict_row

from pganon.attacks import measure
from pganon.attacks.curve import Guesses
from pganon.attacks.findings import Attempt, Counted
from pganon.attacks.reader_view import Release, ShownView
from pganon.encode.secrets import SECRETS
from pganon.resolved.model import Sensitive, Shown
from pganon.sqltools import num, query, statement
from pganon.steps import State
from tests.support.harness import driver, faults
from tests.support.harness.cluster import Database
from tests.support.oracles import attacks as oracle

SOURCE = """
CREATE TABLE public.person (
    id integer PRIMARY KEY, who integer NOT NULL, age integer, town text, zip text NOT NULL,
    disease text, job text NOT NULL, days integer NOT NULL
);
INSERT INTO public.person
SELECT n, {who}, CASE WHEN n % 17 > 0 THEN 20 + abs(hashint4(n)::bigint) % 40 END,
    CASE WHEN n % 13 > 0 THEN 't' || abs(hashint4(n + 1000)::bigint) % {towns} END,
    'Z' || abs(hashint4(n + 2000)::bigint) % 40 + 10,
    CASE WHEN n % 19 > 0 THEN 'd' || abs(hashint4(n + 3000)::bigint) % {diseases} END,
    'j' || n % 6, n % 4
FROM generate_series(1, 160) AS n
"""

QUASI = {name: {"role": "quasi_identifying"} for name in ("age", "town", "zip")}
LABELS = {**QUASI, "zip": {"role": "quasi_identifying", "hierarchy": {"prefix": [2, 1]}}}
ONE = {"disease": {"role": "sensitive"}}
BOTH = {**ONE, "job": {"role": "sensitive"}}
K = {"model": "k_anonymity", "k": 4}

POLICIES: Mapping[str, dict[str, Any]] = {
    "mondrian": {
        "columns": {**LABELS, **BOTH},
        "privacy": [
            {**K, "k": 2},
            {"model": "distinct_l_diversity", "column": "disease", "l": 2},
            {"model": "alpha_k_anonymity", "column": "job", "k": 2, "alpha": 0.7},
        ],
    },
    "one_dimensional": {"columns": {**LABELS, **BOTH}, "privacy": [K]},
    "full_domain": {
        "columns": {
            **LABELS,
            "age": {"role": "quasi_identifying", "hierarchy": {"intervals": [10, 20]}},
            "town": {"role": "quasi_identifying", "hierarchy": {"prefix": [1]}},
            **ONE,
        },
        "privacy": [K],
    },
    "anatomy": {
        "columns": {**QUASI, **ONE},
        "privacy": [{"model": "anatomy_l_diversity", "column": "disease", "l": 3}],
    },
    "sloms": {
        "columns": {**QUASI, **BOTH},
        "privacy": [K, {"model": "slicing_l_diversity", "l": 3, "level": "unique"}],
        "method": {
            "name": "sloms",
            "sensitive_tables": [["disease"], ["job"]],
            "link_threshold": 1,
        },
    },
    "slicing": {
        "columns": {
            **{name: QUASI[name] for name in ("age", "town")},
            "job": {"role": "quasi_identifying"},
            **ONE,
        },
        "privacy": [{"model": "slicing_l_diversity", "column": "disease", "l": 2}],
        "method": {"name": "slicing", "columns": [["age", "town"], ["job", "disease"]]},
    },
    "slamsa": {
        "columns": {**QUASI, **BOTH},
        "privacy": [{"model": "slicing_l_diversity", "column": column, "l": 2} for column in BOTH],
        "method": {
            "name": "slamsa",
            "profile": "independent",
            "quasi_tables": [["age", "zip"], ["town"]],
            "sensitive_tables": [["disease"], ["job"]],
            "link_threshold": 1,
        },
    },
    "lgb_mdp": {
        "columns": {
            **{name: QUASI[name] for name in ("age", "zip")},
            "town": {"role": "semi_sensitive", "sensitive_when": {"predicate": "days < 2"}},
            **ONE,
        },
        "privacy": [
            {**K, "k": 3},
            {"model": "local_bucket_diversity", "column": "disease", "l": 3},
            {"model": "local_bucket_diversity", "column": "town", "l": 3},
        ],
        "method": {"name": "lgb_mdp", "link_threshold": 1},
    },
    "lgb_ncp": {
        # A record that is alone with what it hides is united with others, which withhold theirs.
        "columns": {
            "age": QUASI["age"],
            "town": {"role": "semi_sensitive", "sensitive_when": {"predicate": "days = 1"}},
            "zip": {
                "role": "semi_sensitive",
                "sensitive_when": {"predicate": "id = 3 or days = 1 and id < 80"},
            },
        },
        "privacy": [
            {**K, "k": 3},
            {"model": "local_bucket_diversity", "column": "town", "l": 3},
            {"model": "local_bucket_diversity", "column": "zip", "l": 3},
        ],
        "method": {"name": "lgb_ncp", "small_subsets": "merge", "link_threshold": 1},
    },
    "qs_greedy": {
        "columns": {
            "age": {"role": "quasi_sensitive", "set": "person"},
            "town": {"role": "quasi_sensitive", "set": "place"},
        },
        "privacy": [{"model": "qs_k_anonymity", "k": 4, "count": "supported"}],
    },
    "danonyir": {
        "columns": {**QUASI, **ONE, "who": {"role": "individual"}},
        "privacy": [{"model": "ir_kl_anonymity", "column": "disease", "k": 3, "l": 2}],
    },
}


_OF_THEIR_OWN = {"disease": "st1_group_id", "job": "st2_group_id"}
LINKED = {"sloms": _OF_THEIR_OWN, "slamsa": _OF_THEIR_OWN, "slicing": {"disease": "cell"}}
"""By method, the groups of a sensitive column where they are not those of the table."""


class Recomputed:
    """Attacks on one staged release by the oracle, from what its tables hold."""

    def __init__(self, attack: Any, release: Release, state: State, held: int) -> None:
        self.attack, self.release, self.state, self.held = attack, release, state, held
        self.spec = release.spec
        self.known = self.rows(query("select k.* from k", {"k": attack.base.work("known")}))
        self.all: dict[int, dict[str, Any]] = {}
        [key] = self.rows(
            query(
                "select s.key from s where s.run_id = :run",
                {"s": SECRETS},
                run=num(attack.base.run_id),
            )
        )
        self.key = bytes(key["key"])

    def rows(self, tree: Any) -> list[dict[str, Any]]:
        with self.attack.conn.cursor(row_factory=dict_row) as cursor:
            return cursor.execute(statement(tree)).fetchall()

    def read_targets(self) -> None:
        """Of a release that nobody is held out of they are the same people, and all in it."""
        if not self.all:
            targets = self.rows(query("select k.* from k", {"k": self.state.work("targets")}))
            self.all = {t["t"]: t for t in targets}
            assert {t["held"] for t in targets} == ({False, True} if self.held else {False})

    def shown(self, view: ShownView) -> list[dict[str, Any]]:
        return self.rows(query("select v.* from v", {"v": view.rows}))

    def values(self, row: dict[str, Any]) -> tuple[Any, ...]:
        return tuple(
            oracle.HIDDEN if a.hidden is not None and row[a.hidden.flag] else row[f"q{a.index}"]
            for a in self.spec.attributes
        )

    def targets(self, item: Sensitive | None = None) -> list[oracle.Target]:
        value = f"v{item.index}" if item else None
        return [
            oracle.Target(t, row["held"], self.values(row), row[value] if value else "")
            for t, row in self.all.items()
            if item is None or item.hidden is None or row[item.hidden.flag]
        ]

    def cells(self, row: dict[str, Any]) -> tuple[oracle.Cell, ...]:
        found = []
        for a in self.spec.attributes:
            value = row[a.published]
            missing = row[a.null_column] if a.null_column else value is None
            how = row[f"{a.published}_form"] if a.hidden is not None else "g"
            found.append(oracle.Cell(value, missing, a.form is Shown.LABEL, how))
        return tuple(found)

    def boxes(self, group: str) -> list[oracle.Box]:
        home = self.release.home
        assert home is not None
        if home not in self.release.views:
            return self.combinations(group)
        weight = home.weight
        looks: Counter[str] = Counter()
        found = {}
        for row in self.shown(home):
            box = oracle.Box(row[group], self.cells(row), 0)
            looks[repr(box)] += row[weight] if weight else 1
            found[repr(box)] = box
        return [replace(box, n=looks[look]) for look, box in found.items()]

    def combinations(self, group: str) -> list[oracle.Box]:
        """Of rows of all tables of quasi-identifiers, with their expected numbers of records."""
        slices = [view for view in self.release.views if view.attributes]
        linking = [view for view in slices if not view.sensitive][-1]
        found: list[tuple[dict[str, Any], Fraction]] = [
            (row, Fraction(row["count"])) for row in self.shown(linking)
        ]
        for view in slices:
            if view is linking:
                continue
            parts: dict[int, Counter[str]] = defaultdict(Counter)
            looks = {}
            for row in self.shown(view):
                names = [a.published for a in view.attributes]
                names += [view.group] if view.bucket else []
                part = {name: row[name] for name in names}
                looks[repr(part)] = part
                # All tables of quasi-identifiers have the same buckets, in `group_id`.
                parts[row["group_id"]][repr(part)] += row["count"]
            found = [
                ({**row, **looks[look]}, share * Fraction(n, parts[row["group_id"]].total()))
                for row, share in found
                for look, n in parts[row["group_id"]].items()
            ]
        weights: Counter[str] = Counter()
        boxes = {}
        for row, share in found:
            box = oracle.Box(row[group], self.cells(row), 0)
            weights[repr(box)] += share  # pyright: ignore[reportArgumentType]
            boxes[repr(box)] = box
        return [replace(box, n=weights[look]) for look, box in boxes.items()]

    def histogram(self, item: Sensitive) -> dict[int, Counter[str]]:
        view = self.release.of(item)
        assert view is not None
        if view.attributes and view is not self.release.home:
            # Records of a bucket that agree in the quasi-identifiers beside the column.
            same = ["group_id", *[a.published for a in view.attributes]]
            rows = [(row[view.group], repr([row[n] for n in same])) for row in self.shown(view)]
            assert len({n for n, _ in rows}) == len({look for _, look in rows}) == len({*rows})
        found: dict[int, Counter[str]] = defaultdict(Counter)
        for row in self.shown(view):
            n = row[view.weight] if view.weight else 1
            found[row[view.group]][key_of(row[item.published])] += n
        return found

    def expected(self, attempt: Attempt) -> tuple[int, ...]:
        if attempt.attack == "singling_out":
            return self.singled()
        if attempt.attack == "linkability":
            assert self.release.home is not None
            boxes, targets = self.boxes(self.release.home.group), self.targets()
            hit = {t.t: oracle.linked(boxes, targets, t) for t in targets}
            return oracle.counted(targets, hit)
        if attempt.attack == "membership":
            return self.membership(attempt.adversary == "whole_record")
        [item] = [s for s in self.spec.sensitive if s.published == attempt.column]
        group = self.group_of(item)
        boxes, hist, targets = self.boxes(group), self.histogram(item), self.targets(item)
        self.confident: list[tuple[str, float, bool]] = []
        if not hist:
            return 0, 0, 0, 0  # all hidden values are withheld, so there is none to guess
        guess = {
            "quasi_identifiers": lambda t: oracle.by_groups(boxes, hist, t),
            "others_known": lambda t: oracle.others_known(
                boxes, hist, t, self.attack.settings.known_others, self.key
            ),
            "correlations": lambda t: oracle.correlations(boxes, hist, t),
        }[attempt.adversary]
        guesses = {t.t: guess(t) for t in targets}
        self.confident = sorted(
            (self.digest(guesses[t.t][0]), guesses[t.t][1], guesses[t.t][0] == t.sensitive)
            for t in targets
            if t.held is (self.held > 0)
        )
        return oracle.counted(targets, {t.t: guesses[t.t][0] == t.sensitive for t in targets})

    def digest(self, value: str) -> str:
        return sha256(self.key + value.encode()).hexdigest()

    def group_of(self, item: Sensitive) -> str:
        method = self.spec.policy.method.name
        home = self.release.home
        assert home is not None
        own = f"{item.published}_bucket" if "lgb" in method else home.group
        group = LINKED.get(method, {}).get(item.published, own)
        assert self.release.group_of(item) == group
        return group

    def membership(self, whole: bool) -> tuple[int, ...]:
        home = self.release.home
        assert home is not None
        targets = self.targets()
        says = {t.t: oracle.listed(self.boxes(home.group), t) for t in targets}
        groups = {self.group_of(item) for item in self.spec.sensitive if whole}
        for group in groups:
            items = [item for item in self.spec.sensitive if self.group_of(item) == group]
            boxes, hists = self.boxes(group), [self.histogram(item) for item in items]
            for t in targets:
                row = self.all[t.t]
                values = [
                    None if i.hidden and not row[i.hidden.flag] else row[f"v{i.index}"]
                    for i in items
                ]
                says[t.t] &= oracle.has_record(boxes, hists, values, t)
        return oracle.counted(targets, says)

    def singled(self) -> tuple[int, ...]:
        """With as many predicates as there are: none is left to chance."""
        home = self.release.home
        assert home is not None
        tables = [home] if home in self.release.views else self.release.views
        found = [self.stated(view) for view in tables if view.attributes]
        return tuple(map(sum, zip(*found, strict=True)))

    def stated(self, home: ShownView) -> tuple[int, ...]:
        """Of the rows of a table."""
        rows = self.shown(home)
        names = [name for a in home.attributes for name in (a.published, a.null_column) if name]
        exact = [*home.sensitive, *home.carried]
        names += [item.published for item in exact]
        columns = [self.spec.attributes.index(a) for a in home.attributes]
        looks: Counter[str] = Counter()
        for row in rows:
            looks[repr([row[name] for name in names])] += row[home.weight] if home.weight else 1
        single = [row for row in rows if looks[repr([row[name] for name in names])] == 1]
        people = {False: 0, True: 0}
        for row in single:
            nothing = {a.published: None for a in self.spec.attributes}
            cells = self.cells({**nothing, **row})
            found: dict[bool, set[str]] = {False: set(), True: set()}
            for record in self.known:
                same = all(
                    key_of(row[i.published])
                    == record[f"{'v' if isinstance(i, Sensitive) else 'p'}{i.index}"]
                    for i in exact
                )
                if same and oracle.Box(0, cells, 1).admits(self.values(record), columns):
                    found[record["place"] <= self.held].add(record["person"])
            for held, whom in found.items():
                people[held] += len(whom) == 1
        return people[False], len(single), people[True], len(single)


def key_of(value: Any) -> str:
    return "" if value is None else f"={value}"


@pytest.mark.slow
@pytest.mark.parametrize("method", POLICIES)
def test_figures_are_those_of_the_definitions(
    db: Database, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    who = "n / 2" if method == "danonyir" else "n"
    # In small classes some have the same value, and many are of one kind.
    few = {"towns": 3, "diseases": 2}
    many = {"towns": 30, "diseases": 7}
    db.source(SOURCE.format(who=who, **(few if method == "mondrian" else many)))
    pairs: list[tuple[Attempt, tuple[int, ...], tuple[int, ...]]] = []
    confident: list[tuple[Attempt, list[Guesses], list[tuple[str, float, bool]]]] = []
    attempts = measure._Attack._attempts

    def compared(
        self: Any, release: Release, state: State, held: int, number: int
    ) -> Iterator[tuple[Attempt, Counted]]:
        again = Recomputed(self, release, state, held)
        for attempt, found in attempts(self, release, state, held, number):
            again.read_targets()
            *got, guesses = found.__dict__.values()
            pairs.append((attempt, tuple(got), again.expected(attempt)))
            if attempt.attack == "inference":
                confident.append((attempt, sorted(guesses), again.confident))
            yield attempt, found

    monkeypatch.setattr(measure._Attack, "_attempts", compared)
    policy = {
        "release": "people",
        "source": "public.person",
        "method": {"name": method},
        **POLICIES[method],
    }
    policy["columns"] = {**policy["columns"], "days": {"role": "insensitive"}}
    faults.attacked(db.dsn(), driver.loaded(policy), targets=1000)
    roles = {column["role"] for column in policy["columns"].values()}
    has_sensitive = bool(roles & {"sensitive", "semi_sensitive"})
    kinds = {attempt.attack for attempt, *_ in pairs}
    assert kinds == {
        *("singling_out", "linkability", "membership"),
        *(["inference"] if has_sensitive else []),
    }
    for attempt, found, expected in pairs:
        assert found == expected, attempt
    for attempt, guesses, expected in confident:
        single = [(g.value, g.confidence, True) for g in guesses for _ in range(g.right)]
        single += [(g.value, g.confidence, False) for g in guesses for _ in range(g.n - g.right)]
        assert len(single) == len(expected), attempt
        for got, wanted in zip(by_value(single), by_value(expected), strict=True):
            assert got == (*wanted[:2], pytest.approx(wanted[2], abs=2e-9)), attempt
    assert bool(confident) == has_sensitive


def by_value(guesses: list[tuple[str, float, bool]]) -> list[tuple[str, bool, float]]:
    return sorted((value, right, share) for value, share, right in guesses)
