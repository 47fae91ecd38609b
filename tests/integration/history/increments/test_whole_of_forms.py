"""Figures of buckets, local groups and clusters of a version that grows, from its published rows.

Everything is counted in plain Python from what the views of the newest version show and from the
source as it is then.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import pytest

from pganon.cli.report_data import collect
from pganon.forms.utility import AnatomyUtility, ClusterUtility
from pganon.methods.clusters.search.exact_cover import worst_posterior
from pganon.methods.common.bucket_options import link
from pganon.methods.local.form.statistics import LocalUtility
from pganon.publish import lifecycle, listing
from pganon.run.record import RunResult
from pganon.run.release import run_release
from tests.integration.history.increments.test_increments import growing_policy, more_visits
from tests.support.harness import driver, plans
from tests.support.harness.cluster import Connection, Database
from tests.support.oracles.evidence import (
    check_counted,
    check_sizes,
    check_values,
    everybody_else,
)

Row = dict[str, Any]
Groups = Mapping[Any, Sequence[Row]]


def fetched(conn: Connection, text: str) -> list[Row]:
    cursor = conn.execute(text.encode())
    names = [column.name for column in cursor.description or ()]
    return [dict(zip(names, row, strict=True)) for row in cursor]


def view(conn: Connection, part: str = "") -> list[Row]:
    return fetched(conn, f"SELECT * FROM published.visits{part}")


def grouped(rows: Iterable[Row], by: str) -> dict[Any, list[Row]]:
    found: dict[Any, list[Row]] = defaultdict(list)
    for row in rows:
        found[row[by]].append(row)
    return found


def grown(
    db: Database, method: str, age: str, *, change: str = "", later: str = "", **keys: Any
) -> tuple[RunResult, RunResult, list[Row]]:
    """Two versions, and the source of the second, with other ages.

    Args:
        change: SQL before each of them.
        later: SQL before the second.
        keys: of the policy.
    """
    db.source(plans.SOURCE)
    db.source(change, grant=False)
    policy = driver.loaded({**growing_policy(method).policy.document(), **keys})
    first = run_release(policy, dsn=db.dsn())
    more_visits(db, age)
    db.source(f"{change};{later}", grant=False)
    second = run_release(policy, dsn=db.dsn())
    source = fetched(db.owner(), "SELECT * FROM public.visit")
    kept = listing.find(db.owner(), "visits").current
    assert kept is not None
    assert second.increment is not None
    assert second.released == first.released + second.increment.released
    assert type(second.utility).recorded(kept.measures["utility"]) == second.utility
    again = {
        (f.model, f.column, f.against): f.measured for f in lifecycle.verify(db.owner(), "visits")
    }
    for one in second.verified:
        assert one.measured == pytest.approx(again[one.model, one.column, one.against])
    return first, second, source


# -- loss of exact values -----------------------------------------------------------------------


def span(values: Iterable[int]) -> float:
    held = list(values)
    return max(held) - min(held)


def lost(groups: Groups, every: Sequence[Row], name: str) -> float:
    """Mean NCP of a column: ages are numbers, and zips are categories, NULL among them."""
    total = sum(map(len, groups.values()))
    domain = {row[name] for row in every}
    found = 0.0
    for rows in groups.values():
        values = {row[name] for row in rows}
        if name == "age":
            found += len(rows) * span(values) / span(domain)
        else:
            found += len(rows) * (len(values) - 1) / (len(domain) - 1)
    return found / total


def gcp(ncp: Iterable[float], result: RunResult) -> float:
    """Of quasi-identifiers of the same weight."""
    each = list(ncp)
    out = result.suppressed
    return (sum(each) / len(each) * result.released + out) / (result.released + out)


# -- buckets --------------------------------------------------------------------------------------


def degrees(held: Sequence[Row], name: str) -> tuple[float, float]:
    """Privacy degree and reconstruction error, of records with the same known columns."""
    degree, error = float("inf"), 0.0
    known: dict[Any, Counter[Any]] = defaultdict(Counter)
    for row in held:
        key = tuple(row.get(column) for column in ("group_id", "age", "zip"))
        known[key][row[name]] += row["count"]
    for counts in known.values():
        n = counts.total()
        degree = min(degree, n / max(counts.values()))
        error += n - sum(count**2 for count in counts.values()) / n
    return degree, error


def check_sensitive(found: AnatomyUtility, tables: Mapping[str, Sequence[Row]]) -> None:
    for name, rows in tables.items():
        degree, error = degrees(rows, name)
        assert found.sensitive[name].degree == pytest.approx(degree)
        assert found.sensitive[name].reconstruction_error == pytest.approx(error)
    # They would have to be compared with the values of people who may have changed since.
    assert (found.inferred, found.related, found.objective) == ({}, (), None)
    assert "associated" not in found.details()


def check_utility_sizes(found: AnatomyUtility, sizes: Sequence[int]) -> None:
    assert (found.groups, found.smallest_group, found.largest_group) == (
        len(sizes),
        min(sizes),
        max(sizes),
    )


def check_spread(found: AnatomyUtility, result: RunResult, ncp: Callable[[str], float]) -> None:
    wanted = {name: ncp(name) for name in ("age", "zip")}
    assert found.ncp == pytest.approx(wanted)
    assert found.gcp == pytest.approx(gcp(wanted.values(), result))
    assert found.gcp > 0


def check_evidence(conn: Connection, st: Sequence[Row], method: str) -> None:
    """That of the whole version, and of the first one by the same steps."""
    for number in (1, 2):
        kept = collect(conn, "visits", number)
        assert kept.evidence is not None, number
        assert kept.evidence_intact
    evidence = newest_evidence(conn)
    assert evidence["class_sizes"] == {"release": None, "source": None}
    if method == "slicing":
        return  # who knows the column beside the values knows more than the bucket
    for found, candidates in zip(evidence["sensitive"], evidence["candidates"], strict=True):
        groups = check_values_of(found, st, "group_id")
        people = Counter[int]()
        for held in groups:
            people[len(held)] += held.total()
        check_counted(candidates, people, SMALLEST)


SMALLEST = 11


def newest_evidence(conn: Connection) -> dict[str, Any]:
    """The evidence of the newest version."""
    found = collect(conn, "visits").evidence
    assert found is not None
    return found


def check_values_of(found: Row, rows: Sequence[Row], by: str) -> list[Counter[Any]]:
    """Of buckets, which are returned."""
    held = defaultdict[int, Counter[Any]](Counter)
    for row in rows:
        held[row[by]][row[found["column"]]] += row["count"]
    check_values(found, held, _holders(held.values()), SMALLEST)
    return list(held.values())


def check_values_of_groups(found: Row, rows: Sequence[Row], values: Sequence[Row]) -> None:
    """Where every bucket has one value."""
    bucket = f"{found['column']}_bucket"
    value = {row[bucket]: row[found["column"]] for row in values}
    held = defaultdict[int, Counter[Any]](Counter)
    for row in rows:
        if row[bucket] is not None:
            held[row["group_id"]][value[row[bucket]]] += 1
    check_values(found, held, _holders(held.values()), SMALLEST)


def _holders(groups: Iterable[Counter[Any]]) -> dict[Any, set[Any]]:
    return everybody_else(value for held in groups for value in held.elements())


@pytest.mark.slow
@pytest.mark.parametrize("method", ["anatomy", "slicing", "msb"])
def test_of_buckets(db: Database, method: str) -> None:
    """Also on the scale of what groups show and the source has no more."""
    later = "UPDATE public.visit SET age = 26 WHERE age < 24"
    columns = growing_policy(method).policy.document()["columns"]
    columns["cost"] = {"role": "identifying"}  # with it, no two rows would be equal
    _, second, source = grown(db, method, "25 + n % 9", later=later, columns=columns)
    assert min(row["age"] for row in source) == 24
    conn = db.owner()
    found = second.utility
    assert isinstance(found, AnatomyUtility)
    qit, st = view(conn, "_qit"), view(conn, "_st")

    def ncp(name: str) -> float:
        """Slicing has one of the quasi-identifiers beside the values."""
        part = qit if name in qit[0] else st
        each = [row for row in part for _ in range(row.get("count", 1))]
        return lost(grouped(each, "group_id"), [*source, *each], name)

    check_spread(found, second, ncp)
    check_sensitive(found, dict.fromkeys(found.sensitive, st))
    check_evidence(conn, st, method)
    sizes = Counter[int]()
    for row in st:
        sizes[row["group_id"]] += row["count"]
    check_utility_sizes(found, list(sizes.values()))


@pytest.mark.slow
def test_columns_that_are_arranged_otherwise(db: Database) -> None:
    """Columns of which the newcomers make other tables have no figures; the run is refused."""
    with driver.refused("other_columns"):
        grown(
            db,
            "slicing",
            "25 + n % 9",
            later="UPDATE public.visit SET age = 26, zip = 'Z1' WHERE age < 24 OR zip = 'Z0'",
        )


@pytest.mark.slow
def test_of_independent_buckets(db: Database) -> None:
    """Every record is in a bucket of each sensitive table."""
    db.source(plans.SOURCE)
    _, second, source = grown_slamsa(db)
    conn = db.owner()
    found = second.utility
    assert isinstance(found, AnatomyUtility)
    qit = view(conn, "_qit")
    tables = {name: view(conn, f"_{part}") for name, part in PARTS.items()}
    buckets = {name: grouped(qit, link(part)) for name, part in PARTS.items()}

    def ncp(name: str) -> float:
        return sum(lost(of, [*source, *qit], name) for of in buckets.values()) / len(buckets)

    check_spread(found, second, ncp)
    check_sensitive(found, tables)
    check_utility_sizes(found, [len(rows) for of in buckets.values() for rows in of.values()])
    for name, other in (("disease", "drug"), ("drug", "disease")):
        risk = informed(qit, tables, source, name, other)
        assert found.sensitive[name].informed == pytest.approx(risk)


PARTS = {"disease": "st1", "drug": "st2"}


@pytest.mark.slow
def test_of_columns_with_other_buckets_than_the_values(db: Database) -> None:
    """Nobody can tell which ages the buckets of values have."""
    db.source(plans.SOURCE)
    _, second, _ = grown_slamsa(db, quasi_tables=2)
    assert second.utility is None
    assert second.increment is not None
    assert second.increment.utility.number_of_groups > 1


def grown_slamsa(db: Database, **options: Any) -> tuple[RunResult, RunResult, list[Row]]:
    document = plans.policy_of("slamsa").policy.document()
    document |= {"refresh": "increments", "increment_size": 20}
    document["publish"] = {"readers": ["analyst"]}
    document["method"] = {
        **document["method"],
        "profile": "independent",
        "sensitive_tables": [["disease"], ["drug"]],
        "link_threshold": 1,
        **options,
    }
    policy = driver.loaded(document)
    first = run_release(policy, dsn=db.dsn())
    more_visits(db, "25 + n * 7 % 31")
    second = run_release(policy, dsn=db.dsn())
    return first, second, fetched(db.owner(), "SELECT * FROM public.visit")


def informed(
    qit: Sequence[Row],
    tables: Mapping[str, Sequence[Row]],
    source: Sequence[Row],
    name: str,
    other: str,
) -> float:
    """The highest risk of a record from a reader who knows which values go together."""
    pairs = Counter((row[name], row[other]) for row in source)
    mine = Counter(row[name] for row in source)
    theirs = Counter(row[other] for row in source)

    def lift(v: Any, y: Any) -> float:
        return pairs[v, y] * len(source) / (mine[v] * theirs[y]) if pairs[v, y] else 0.0

    held = {key: grouped(rows, "group_id") for key, rows in tables.items()}
    worst = 0.0
    for row in qit:
        here = held[name][row[link(PARTS[name])]]
        there = held[other][row[link(PARTS[other])]]
        n = sum(entry["count"] for entry in there)
        weights = [
            entry["count"] * sum(y["count"] / n * lift(entry[name], y[other]) for y in there)
            for entry in here
        ]
        worst = max(worst, max(weights) / sum(weights))
    return worst


@pytest.mark.slow
def test_of_classes_with_buckets(db: Database) -> None:
    """What is lost is that of the classes, whose ranges and sets are published."""
    _, second, source = grown(db, "sloms", "25 + n % 9")
    conn = db.owner()
    found = second.utility
    assert isinstance(found, AnatomyUtility)
    qit = view(conn, "_qit")
    ages = [row["age"] for row in source]
    ages += [end for row in qit for end in (row["age"].lower, row["age"].upper)]
    zips = {row["zip"] for row in source}

    def ncp(name: str) -> float:
        if name == "age":
            each = [(row["age"].upper - row["age"].lower) / span(ages) for row in qit]
        else:
            each = [(len(r["zip"] or ()) + r["zip_null"] - 1) / (len(zips) - 1) for r in qit]
        return float(sum(each)) / len(qit)

    check_spread(found, second, ncp)
    check_sensitive(found, {name: view(conn, f"_{part}") for name, part in PARTS.items()})
    sizes = [len(rows) for rows in grouped(qit, "class_id").values()]
    check_utility_sizes(found, sizes)
    evidence = newest_evidence(conn)
    check_sizes(evidence["class_sizes"]["release"], sizes, SMALLEST)
    for one in evidence["sensitive"]:
        check_values_of(one, view(conn, f"_{PARTS[one['column']]}"), "group_id")


# -- local groups and buckets -------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(("method", "missing"), [("lgb_mdp", "Z5"), ("local_generalization", None)])
def test_of_local_groups(db: Database, method: str, missing: str | None) -> None:
    """NULL is a value where it is shown, and not where it is hidden.

    Who hides a column alone is suppressed.
    """
    if missing is None:
        later = "UPDATE public.visit SET age = 30 WHERE id > 65 AND age < 22"
        keys = {"later": later, "on_infeasible": "suppress"}
    else:
        keys = {"change": f"UPDATE public.visit SET zip = '{missing}' WHERE zip IS NULL"}
    _, second, source = grown(db, method, "20 + n % 13", **keys)
    assert second.suppressed == (missing is None)
    conn = db.owner()
    found = second.utility
    assert isinstance(found, LocalUtility)
    rows = view(conn)
    ages = [row["age"] for row in source]
    ages += [end for row in rows for end in (row["age"].lower, row["age"].upper)]
    zips = {row["zip"] for row in source if row["age"] >= 22}
    assert (None in zips) is (missing is None)
    age = [float(row["age"].upper - row["age"].lower) / span(ages) for row in rows]
    sets = [len(r["zip"] or ()) + r["zip_null"] for r in rows if r["zip_form"] == "g"]
    zip_ = [(n - 1) / (len(zips) - 1) for n in sets]
    paper = [n / len(zips) if n > 1 else 0 for n in sets]
    assert 0 < len(sets) < len(rows)
    assert found.ncp == pytest.approx({"age": sum(age) / len(rows), "zip": sum(zip_) / len(zip_)})
    gone = 2 * second.suppressed
    cells = len(age) + len(sets) + gone
    assert found.gcp == pytest.approx((sum(age) + sum(zip_) + gone) / cells)
    assert found.paper_gcp == pytest.approx((sum(age) + sum(paper) + gone) / cells)
    sizes = [len(held) for held in grouped(rows, "group_id").values()]
    assert (found.groups, found.smallest_group, found.largest_group) == (
        len(sizes),
        min(sizes),
        max(sizes),
    )
    records = second.released + second.suppressed
    squares = sum(n * n for n in sizes)
    assert found.discernibility == squares + second.suppressed * records
    for name, buckets in found.buckets.items():
        held = grouped(view(conn, f"_values_{name}"), f"{name}_bucket").values()
        totals = [sum(row["count"] for row in of) for of in held]
        assert (buckets.cells, buckets.buckets) == (sum(totals), len(totals))
        assert (buckets.smallest, buckets.largest) == (min(totals), max(totals))
        most = [max(row["count"] for row in of) / n for of, n in zip(held, totals, strict=True)]
        assert buckets.share == pytest.approx(max(most))
    assert (found.inferred, found.taught) == ({}, {})
    evidence = newest_evidence(conn)
    check_sizes(evidence["class_sizes"]["release"], sizes, SMALLEST)
    exact = {one["column"]: one["exact"] for one in evidence["attributes"]}
    # Of sets nothing is told while few are left out: the source counts their values.
    assert exact == {
        "age": pytest.approx(age.count(0) / len(age), abs=1e-6),
        "zip": None if second.suppressed else pytest.approx(sets.count(1) / len(sets), abs=1e-6),
    }
    assert {one["column"] for one in evidence["sensitive"]} == set(found.buckets)
    for one in evidence["sensitive"]:
        values = view(conn, f"_values_{one['column']}")
        if method == "local_generalization":
            check_values_of_groups(one, rows, values)
        else:
            check_values_of(one, values, f"{one['column']}_bucket")


# -- clusters -------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("count", ["supported", "product"])
def test_of_clusters(db: Database, count: str) -> None:
    """Also of those that are left when some were withdrawn, and nobody is new."""
    keys: dict[str, Any] = {
        "privacy": [{"model": "qs_k_anonymity", "k": 2, "count": count}],
        "leavers": "withdraw",
    }
    # Many values make clusters small enough for their worlds to be counted.
    change = "UPDATE public.visit SET age = 20 + id * 7 % 40, zip = nullif('Z' || id % 9, 'Z8')"
    _, second, source = grown(db, "qs_greedy", "25 + n % 9", change=change, **keys)
    check_clusters(db, second, source, count)
    db.source("DELETE FROM public.visit WHERE id IN (3, 71)", grant=False)
    # What clusters show may be in the source no more. It existed when they were made.
    db.source("UPDATE public.visit SET zip = 'Z9' WHERE zip = 'Z0'", grant=False)
    document = {**growing_policy("qs_greedy").policy.document(), **keys}
    third = run_release(driver.loaded(document), dsn=db.dsn())
    assert third.increment is None
    assert third.released < second.released
    check_clusters(db, third, fetched(db.owner(), "SELECT * FROM public.visit"), count)


def check_clusters(db: Database, second: RunResult, source: Sequence[Row], count: str) -> None:
    clusters = view(db.owner())
    found = second.utility
    assert isinstance(found, ClusterUtility)
    ages = [row["age"] for row in source] + [age for row in clusters for age in row["age"]]
    n = sum(row["size"] for row in clusters)
    lines = sum(row["size"] * span(row["age"]) / span(ages) for row in clusters)
    flat = sum(row["size"] * (len(row["zip"]) > 1) for row in clusters)
    assert found.ncp == pytest.approx({"age": lines / n, "zip": flat / n})
    assert n == second.released
    assert found.gcp == pytest.approx(gcp(found.ncp.values(), second))
    assert found.ncp_total == pytest.approx(2 * found.gcp * (n + second.suppressed))
    sizes = [row["size"] for row in clusters]
    assert (found.clusters, found.smallest_cluster, found.largest_cluster) == (
        len(sizes),
        min(sizes),
        max(sizes),
    )
    assert found.mean_cluster == pytest.approx(n / len(sizes))
    single = [len(row[name]) == 1 for row in clusters for name in ("age", "zip")]
    assert found.constants == sum(single)
    for name, column in (("person", "age"), ("place", "zip")):
        known = {row[column] for row in source}
        if count == "supported":
            known |= {value for row in clusters for value in row[column]}
        existing = [[value in known for value in row[column]] for row in clusters]
        for told, counts in (
            (found.product[name], [len(each) for each in existing]),
            (found.supported[name], [sum(each) for each in existing]),
        ):
            assert (told.least, told.most) == (min(counts), max(counts))
            assert told.mean == pytest.approx(sum(counts) / len(counts))
        if count == "product":
            continue
        worlds = [
            worst_posterior(
                [len(row[column])], [[n] for n, _ in enumerate(row[column])], row["size"]
            )
            for row in clusters
            if row["size"] <= 8
        ]
        counted = [float(one) for one in worlds if one is not None]
        assert found.posterior[name].clusters == len(counted) > 0
        assert found.posterior[name].worst == pytest.approx(max(counted))
    assert found.posterior or count == "product"
    check_candidates(newest_evidence(db.owner()), clusters, source, count)


def check_candidates(
    evidence: Row, clusters: Sequence[Row], source: Sequence[Row], count: str
) -> None:
    for one, column in zip(evidence["candidates"], ("age", "zip"), strict=True):
        assert one["columns"] == [column]
        known = {row[column] for row in source}
        if count == "supported":
            known |= {value for row in clusters for value in row[column]}
        people = Counter[int]()
        for row in clusters:
            people[len(known & set(row[column]))] += row["size"]
        check_counted(one, people, SMALLEST)
    n = sum(row["size"] for row in clusters)
    for one in evidence["attributes"]:
        each = [(len(row[one["column"]]), row["size"]) for row in clusters]
        assert one["exact"] == pytest.approx(sum(m for k, m in each if k == 1) / n, abs=1e-6)
        assert one["width"] == pytest.approx(sum(k * m for k, m in each) / n, abs=1e-4)


FLOATS = """
ALTER TABLE public.visit ALTER age TYPE double precision;
UPDATE public.visit SET age = floor(age) + 0.12345678901234567
"""


@pytest.mark.slow
@pytest.mark.parametrize("method", ["anatomy", "mondrian"])
def test_floats_with_more_digits_than_a_cast_to_numeric_keeps(db: Database, method: str) -> None:
    columns = growing_policy(method).policy.document()["columns"]
    columns["age"] |= {"type": "categorical"}
    columns["cost"] = {"role": "identifying"}
    _, second, source = grown(db, method, "25 + n % 9", change=FLOATS, columns=columns)
    found = second.utility
    assert found is not None
    if method == "anatomy":
        buckets = grouped(view(db.owner(), "_qit"), "group_id")
        kinds = [(len({row["age"] for row in rows}), len(rows)) for rows in buckets.values()]
    else:
        kinds = [(len(row["age"]), 1) for row in view(db.owner())]
    domain = len({row["age"] for row in source})
    lost = sum(n * (d - 1) for d, n in kinds) / (domain - 1) / sum(n for _, n in kinds)
    assert found.ncp["age"] == pytest.approx(lost)


@pytest.mark.slow
def test_floats_of_clusters(db: Database) -> None:
    keys: dict[str, Any] = {"privacy": [{"model": "qs_k_anonymity", "k": 2, "count": "supported"}]}
    change = "UPDATE public.visit SET age = 20 + id * 7 % 40, zip = nullif('Z' || id % 9, 'Z8');"
    _, second, source = grown(db, "qs_greedy", "25 + n % 9", change=change + FLOATS, **keys)
    check_clusters(db, second, source, "supported")
