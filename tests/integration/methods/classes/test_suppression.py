"""What Mondrian leaves out: as few records as possible, chosen by a secret, and never too many."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import pytest
from psycopg import sql

from pganon.encode.work import CODED
from pganon.errors import PolicyError
from pganon.loading import known, policy_from
from tests.support.harness import plans
from tests.support.harness.cluster import Database
from tests.support.harness.driver import Staged, fetch, refused, run
from tests.support.oracles import definitions, model
from tests.support.sources.builders import make_table, policy

pytestmark = pytest.mark.primary_server_only

SUPPRESS = {"on_infeasible": "suppress", "suppression_limit": 1.0}
COLUMNS = {"q": "integer", "s": "text", "u": "text"}

Table = list[tuple[Any, ...]]

_TABLES = sql.SQL("SELECT relname FROM pg_class WHERE relnamespace = 'pganon_work'::regnamespace")


def released(db: Database, rows: Table, privacy: list[dict[str, Any]], **keys: Any) -> Staged:
    make_table(db.connect("source_owner"), COLUMNS, rows)
    seed = keys.pop("seed", 1)
    columns = {"q": {"weight": keys.pop("weight", 1)}, "s": "s", "u": "s"}
    return run(db.owner(), policy(columns, privacy, **keys), seed=seed)


def asked(name: str, **parameters: Any) -> list[dict[str, Any]]:
    return [{"model": name, "column": "s", **parameters}]


PRICED = ("mondrian", "one_dimensional")
priced = pytest.mark.parametrize("method", PRICED)

# -- values that are too frequent ---------------------------------------------------------------

BOUNDS: dict[str, tuple[dict[str, Any], Callable[[list[Any]], bool]]] = {
    "alpha_k_anonymity": (
        {"alpha": 0.4, "k": 2},
        lambda values: len(values) > 1 and model.alpha(values) <= Fraction(2, 5),
    ),
    "recursive_cl_diversity": (
        {"c": 1.5, "l": 2},
        lambda values: model.recursive_c(values, 2) < 1.5,
    ),
    "entropy_l_diversity": (
        {"l": 2.5},
        lambda values: definitions.entropy_at_least(values, Fraction(5, 2)),
    ),
}
COUNTS = [(9, 2, 2), (9, 8, 3), (5, 4, 4, 1), (7, 1, 1, 1), (12, 3, 1, 1)]


def repeated(words: Sequence[Any], counts: Sequence[int]) -> list[Any]:
    return [word for word, n in zip(words, counts, strict=True) for _ in range(n)]


@pytest.mark.parametrize(
    ("method", "counts"),
    [*(("mondrian", counts) for counts in COUNTS), *(("one_dimensional", c) for c in COUNTS[1:3])],
)
@pytest.mark.parametrize("name", BOUNDS)
def test_as_few_records_as_possible_of_too_frequent_values(
    db: Database, name: str, counts: tuple[int, ...], method: str
) -> None:
    parameters, holds = BOUNDS[name]
    words = [None, "b", "c", "d"][: len(counts)]
    rows: Table = [(1, v, "x") for v in repeated(words, counts)]
    privacy, keys = asked(name, **parameters), {**SUPPRESS, "method": {"name": method}}
    staged = released(db, rows, privacy, **keys)
    left = Counter(row["s"] for row in staged.rows("s"))
    possible = [
        stays
        for stays in itertools.product(*[range(n + 1) for n in counts])
        if sum(stays) > 0 and holds(repeated(words, stays))
    ]
    caps = [tuple(min(n, cap) for n in counts) for cap in range(1, max(counts) + 1)]
    assert [left[word] for word in words] == list(max(set(caps) & set(possible)))
    if name != "entropy_l_diversity":  # a cap for all values alike may be one record too low
        assert sum(left.values()) == max(map(sum, possible))


@priced
def test_bounds_on_two_columns_at_once(db: Database, method: str) -> None:
    rows: Table = [
        (1, "a" if n % 10 < 7 else f"s{n % 3}", "u" if n % 7 else f"v{n % 4}") for n in range(80)
    ]
    privacy = [*asked("alpha_k_anonymity", alpha=0.5, k=2)]
    privacy += [{"model": "alpha_k_anonymity", "column": "u", "alpha": 0.6, "k": 2}]
    staged = released(db, rows, privacy, **SUPPRESS, method={"name": method})
    left = staged.rows("s, u")
    assert Counter(row["s"] for row in left)["a"] <= len(left) / 2
    assert Counter(row["u"] for row in left)["u"] <= len(left) * 0.6
    assert staged.facts["suppressed"] == 80 - len(left)


@pytest.mark.slow
def test_two_bounds_on_one_column_at_once(db: Database) -> None:
    """Of 16 a and 3 others alpha alone leaves 4 a, where (1, 2)-diversity leaves 2."""
    rows: Table = [(1, v, "x") for v in repeated("abcd", (16, 1, 1, 1))]
    alpha = asked("alpha_k_anonymity", alpha=0.6, k=2)
    both = [*alpha, *asked("recursive_cl_diversity", c=1, l=2)]
    assert Counter(row["s"] for row in released(db, rows, alpha, **SUPPRESS).rows("s"))["a"] == 4
    for privacy in (both, both[::-1]):
        staged = released(db, rows, privacy, **SUPPRESS)
        assert Counter(row["s"] for row in staged.rows("s"))["a"] == 2


@pytest.mark.usefixtures("steps_alone")
@pytest.mark.parametrize("variant", ["strict", "relaxed"])
def test_who_stays_comes_first_in_the_random_order(db: Database, variant: str) -> None:
    """Whatever the order in which the server reads or sorts them."""
    rows: Table = [(n % 3, "a" if n % 10 < 7 else f"s{n % 9}", "x") for n in range(400)]
    method = {"name": "mondrian", "variant": variant}
    privacy = asked("alpha_k_anonymity", alpha=0.5, k=2)
    staged = released(db, rows, privacy, method=method, **SUPPRESS)
    coded = sql.SQL("SELECT record, rid FROM {}").format(staged.state.work(CODED).identifier)
    place = {int(row["record"]): row["rid"] for row in fetch(staged.conn, coded)}
    stay = set().union(*staged.members.values())
    often = [n for n, row in enumerate(rows, start=1) if row[1] == "a"]
    assert 0 < len(stay & set(often)) < len(often)
    assert max(place[n] for n in stay & set(often)) < min(place[n] for n in set(often) - stay)
    left = {row["relname"] for row in fetch(staged.conn, _TABLES)}
    assert not {name for name in left if "kept" in name or "caps" in name}


@pytest.mark.parametrize("variant", ["strict", "relaxed"])
def test_a_secret_decides_which_and_not_the_order_of_rows(db: Database, variant: str) -> None:
    keys = {**SUPPRESS, "method": {"name": "mondrian", "variant": variant}}
    rows: Table = [(n % 3, "a" if n < 30 else f"s{n % 3}", str(n)) for n in range(45)]
    privacy = asked("alpha_k_anonymity", alpha=0.5, k=2)

    def kept(seed: int) -> set[str]:
        declared = policy({"q": "q", "s": "s", "u": "i"}, privacy, **keys)
        return {row["u"] for row in run(db.owner(), declared, seed=seed).rows("u")}

    make_table(db.connect("source_owner"), COLUMNS, rows)
    first = kept(1)
    assert len(first) < 45
    db.connect("source_owner").execute(
        "CREATE TABLE public.o AS TABLE public.t; DELETE FROM public.t;"
        " INSERT INTO public.t SELECT * FROM public.o ORDER BY id DESC"
    )
    assert kept(1) == first
    assert kept(2) != first


def test_the_hint_names_what_makes_it_reachable(db: Database) -> None:
    """A bound that no release of all records reaches is reached by the limit that is named."""
    rows: Table = [(n % 5, "a" if n < 50 else f"s{n % 4}", "x") for n in range(63)]
    privacy = asked("alpha_k_anonymity", alpha=0.5, k=2)
    with refused("infeasible") as errors:
        released(db, rows, privacy, suppression_limit=1.0)
    assert "on_infeasible: suppress" in str(errors[0].hint)
    with refused("suppression_limit") as errors:
        released(db, rows, privacy, on_infeasible="suppress", suppression_limit=0.1)
    limit = float(str(errors[0].hint).split()[-1])
    staged = released(db, rows, privacy, on_infeasible="suppress", suppression_limit=limit)
    assert staged.facts["suppressed"] == math.floor(limit * 63) == 37


@pytest.mark.parametrize("keys", [{}, SUPPRESS])
def test_no_hint_at_what_a_release_that_grows_does_not_do(db: Database, keys: Any) -> None:
    rows: Table = [(n % 5, "a" if n < 50 else f"s{n % 4}", "x") for n in range(63)]
    with refused("infeasible") as errors:
        released(db, rows, asked("alpha_k_anonymity", alpha=0.5, k=2), refresh="increments", **keys)
    assert str(errors[0].hint) == "require at least alpha = 0.794, or release other records"


def test_where_no_number_of_records_helps_none_is_left_out(db: Database) -> None:
    """One value too few, in the only part or in one of two."""
    privacy = asked("recursive_cl_diversity", c=1, l=3)
    rows: Table = [(1, "a" if n < 20 else "b", "x") for n in range(30)]
    with refused("infeasible") as errors:
        released(db, rows, privacy, **SUPPRESS)
    assert "30 records" in str(errors[0])
    rows += [(None, f"s{n % 4 * (n % 3 > 0)}", "x") for n in range(24)]
    make_table(db.connect("source_owner"), COLUMNS, rows)
    apart = policy({"q": {"nulls": "own_class"}, "s": "s", "u": "s"}, privacy, **SUPPRESS)
    staged = run(db.owner(), apart)
    left = Counter(row["s"] for row in staged.rows("s"))
    assert len(left) == 4
    assert left["s0"] < sum(n % 4 * (n % 3 > 0) == 0 for n in range(24))


# -- classes that are too wide ------------------------------------------------------------------


def wide(limit: float, **method: Any) -> dict[str, Any]:
    return {"suppression_limit": limit, "method": {"name": "mondrian", **method}}


ROWS: Table = [(20 + n % 21, "a", "x") for n in range(210)] + [(90, "a", "x"), (99, "b", "x")]
K = [{"model": "k_anonymity", "k": 5}]


def test_what_is_far_from_all_others_goes_where_gcp_falls(db: Database) -> None:
    before = released(db, ROWS, K)
    after = released(db, ROWS, K, **wide(0.05))
    assert after.facts["suppressed"] == 2
    assert after.utility.gcp < before.utility.gcp
    assert 90 not in {x for c in after.classes.values() for x in range(88, 100) if x in c["q"]}
    one = released(db, ROWS, K, **wide(1 / 212))
    assert one.facts["suppressed"] == 1  # the farthest


@pytest.mark.parametrize(
    ("limit", "price"), [(0.01, 0), (0.01, 1), (0.1, 0), (0.1, 0.2), (1, 0.2), (1, 1)]
)
def test_the_limit_is_a_limit_and_the_price_a_price(
    db: Database, limit: float, price: float
) -> None:
    rows: Table = [(n * n % 97, f"s{n % 3}", "x") for n in range(150)]
    privacy = [*K, *asked("distinct_l_diversity", l=2)]
    before = released(db, rows, privacy, weight=3)
    after = released(db, rows, privacy, weight=3, **wide(limit, price=price))
    out = after.facts["suppressed"]
    assert out <= limit * 150
    assert all(
        len({row["s"] for row in rows}) >= 2 and len(rows) >= 5
        for rows in map(list, grouped(after).values())
    )
    paid = after.utility.gcp * 150 - out + price * out
    assert paid <= before.utility.gcp * 150 + 1e-9
    if price == 0 and limit >= 0.1:
        assert out > 0


def test_one_class_stays_beside_records_that_are_suppressed_for_a_null(db: Database) -> None:
    rows: Table = [(None if n < 20 else n * n % 97, "a", "x") for n in range(80)]
    make_table(db.connect("source_owner"), COLUMNS, rows)
    declared = policy({"q": {"nulls": "suppress"}}, 5, **wide(1, price=0))
    staged = run(db.owner(), declared)
    assert len(staged.classes) == 1
    assert 20 < staged.facts["suppressed"] <= 75


def test_a_class_may_be_left_with_as_few_records_as_it_needs(db: Database) -> None:
    values = [0, 0, 0, 0, 0, 200, 400, 1000, 1000, 1000, 1000, 1000, 1150]
    staged = released(db, [(value, "a", "x") for value in values], K, **wide(2 / 13, price=0))
    ids = set().union(*staged.members.values())
    assert [v for n, v in enumerate(values, start=1) if n not in ids] == [200, 400]


@pytest.mark.parametrize("several", [False, True])
def test_who_is_in_no_class_is_remembered_once(db: Database, several: bool) -> None:
    """Records that are left out are of two people, of whom one is in a class, too."""
    values = [0, 0, 0, 0, 0, 1000, 1000, 1000, 200, 400, 600]
    people = [*range(8), 2, 9, 9] if several else range(11)
    columns = {"q": "integer", "z": "text", "who": "integer"}
    make_table(
        db.connect("source_owner"), columns, list(zip(values, "a" * 11, people, strict=True))
    )
    kept = {"who": "individual"} if several else {}
    more = {"records_per_individual": "many_accepted"} if several else {}
    staged = run(db.owner(), policy({"q": "q", **kept}, 3, **wide(3 / 11, price=0), **more))
    assert staged.facts["suppressed"] == 3
    members = sql.SQL("SELECT class_id, member FROM {}").format(staged.name("members"))
    found = [(row["class_id"], row["member"]) for row in fetch(staged.conn, members)]
    left_out = {who for group, who in found if group < 1}
    assert len([group for group, _ in found if group < 1]) == len(left_out) == 3 - several
    assert len(left_out & {who for group, who in found if group > 0}) == several
    assert len(found) == 11 - several


@pytest.mark.parametrize("price", [0, 1])
def test_more_categories_than_a_mask_has_bits(db: Database, price: float) -> None:
    """What is counted cannot be added up, and is taken to be lost by what stays, too."""
    kinds = {"q": "integer", "z": "text"}
    rows = [(n % 30 + (500 if n == 7 else 0), f"z{n}") for n in range(600)]
    make_table(db.connect("source_owner"), kinds, rows)
    before = run(db.owner(), policy({"q": "q", "z": "q"}, 4))
    after = run(db.owner(), policy({"q": "q", "z": "q"}, 4, **wide(0.02, price=price)))
    assert 1 <= after.facts["suppressed"] <= 12
    out = after.facts["suppressed"]
    paid = after.utility.gcp * 600 - out + price * out
    assert paid < before.utility.gcp * 600


@pytest.mark.slow
def test_with_many_quasi_identifiers_whole_classes_go(db: Database) -> None:
    names = [f"q{n}" for n in range(22)]
    rows = [[n * (i + 3) % 11 for i in range(22)] for n in range(40)]
    make_table(db.connect("source_owner"), dict.fromkeys(names, "integer"), rows)
    declared = policy(dict.fromkeys(names, "q"), 5)
    whole = run(db.owner(), declared)
    some = run(db.owner(), declared | wide(0.3, price=0))
    assert 5 <= some.facts["suppressed"] <= 12
    assert set(map(frozenset, some.members.values())) < set(map(frozenset, whole.members.values()))
    assert run(db.owner(), declared | wide(0.3)).facts["suppressed"] == 0


def grouped(staged: Staged) -> dict[int, list[dict[str, Any]]]:
    found: dict[int, list[dict[str, Any]]] = {}
    for row in staged.rows("class_id, s"):
        found.setdefault(row["class_id"], []).append(row)
    return found


@pytest.mark.slow
def test_without_a_limit_the_plan_has_no_such_step(db: Database) -> None:
    make_table(db.connect("source_owner"), COLUMNS, ROWS)
    assert "outlier_rounds" not in released(db, ROWS, K).facts
    closeness = [*K, *asked("t_closeness", t=0.9)]
    assert "outlier_rounds" not in released(db, ROWS, closeness, suppression_limit=0.5).facts
    grows = released(db, ROWS, K, suppression_limit=0.5, refresh="increments")
    assert "outlier_rounds" not in grows.facts


# -- what is refused ----------------------------------------------------------------------------

COMPARED = [*K, *asked("t_closeness", t=0.5)]
IDLE = [
    ({"privacy": K, **wide(0, price=0.5)}, "price has no effect"),
    ({"privacy": COMPARED, **wide(0.1, price=0.5)}, "compares classes with what is published"),
    ({"privacy": K, **wide(0.1, price=0.5), "refresh": "increments"}, "with refresh: increments"),
    ({"privacy": K, **SUPPRESS}, "helps no class"),
    ({"privacy": COMPARED, **SUPPRESS}, "helps no class"),
    ({"privacy": asked("distinct_l_diversity", l=2), **SUPPRESS}, "helps no class"),
]


@pytest.mark.parametrize(("keys", "words"), IDLE)
def test_what_has_no_effect_is_refused(keys: dict[str, Any], words: str) -> None:
    with pytest.raises(PolicyError) as caught:
        policy_from(policy({"q": "q", "s": "s", "u": "s"}, keys["privacy"]) | keys)
    assert words in str(caught.value)


@pytest.mark.parametrize("name", plans.METHODS)
def test_what_a_method_cannot_do_is_refused_and_not_ignored(name: str) -> None:
    document = plans.policy_of(name).policy.document()
    priced = {**document, "method": {**document["method"], "price": 0.5}}
    if name in PRICED:
        policy_from(priced)
    else:
        with pytest.raises(PolicyError, match="not a key"):
            policy_from(priced)
    suppressing = {**document, "on_infeasible": "suppress"}
    if known().methods[name].leaves_out and name not in PRICED:
        policy_from(suppressing)
    else:
        with pytest.raises(PolicyError, match=r"nothing out for|helps no class"):
            policy_from(suppressing)


# -- outliers of lines --------------------------------------------------------------------------


@pytest.mark.parametrize("variant", ["strict", "relaxed"])
@pytest.mark.parametrize("price", [0, 0.2, 1])
def test_a_line_leaves_out_what_pays_and_no_more_than_the_limit(
    db: Database, variant: str, price: float
) -> None:
    """Three outliers among two heaps: all at no price, none at that of GCP."""
    values = [*range(10), *range(100, 110), 40, 50, 60]
    keys = {"name": "one_dimensional", "variant": variant, "price": price}
    staged = released(
        db,
        [(value, "a", "x") for value in values],
        [{"model": "k_anonymity", "k": 5}],
        method=keys,
        suppression_limit=3 / 23,
    )
    ids = set().union(*staged.members.values())
    left = [value for number, value in enumerate(values, start=1) if number not in ids]
    assert left == ([] if price == 1 else [40, 50, 60])
    assert staged.facts["suppressed"] == len(left)


def test_a_relaxed_line_leaves_out_a_part_of_a_cell(db: Database) -> None:
    """The sixth record of a class; nobody has the number of a class without being in one."""
    staged = released(
        db,
        [(value, "a", "x") for value in [0] * 10 + [100] * 10 + [50] * 3 + [60] * 3],
        [{"model": "k_anonymity", "k": 5}],
        method={"name": "one_dimensional", "variant": "relaxed", "price": 0},
        suppression_limit=1 / 26,
    )
    first, second, last = sorted(staged.members.values(), key=min)
    assert (first, second) == (set(range(1, 11)), set(range(11, 21)))
    assert len(last) == 5
    assert last < set(range(21, 27))
    assert staged.facts["suppressed"] == 1
    assert staged.facts["drawn_class_id"] == 3
