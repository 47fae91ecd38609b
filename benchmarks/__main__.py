"""`python -m benchmarks`, with the names of some of them.

They are adult, acs, generated, assess, qs, anatomy, slamsa, identity, lgb, background, time and
requests; all by default.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks import (
    anatomy,
    assess,
    background,
    background_claims,
    background_plots,
    background_tables,
    identity,
    identity_claims,
    identity_plots,
    increments,
    leaving,
    lgb,
    lgb_claims,
    lgb_plots,
    mondrian,
    over_time,
    over_time_plots,
    qs,
    qs_claims,
    qs_plots,
    qs_tables,
    recomputed,
    requests,
    slamsa,
    support,
)

REAL = ("adult", "acs", "qs", "anatomy", "slamsa", "identity", "lgb", "background")
TIME = (*over_time.PARTS, "increments", "recomputed", "leaving")
ALL = (*REAL[:2], "generated", "assess", *REAL[2:], "time", "requests")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("which", nargs="*", choices=[*ALL, []], default=[])
    parser.add_argument("--rows", type=int, default=10_000_000, help="of the generated table")
    parser.add_argument("--assess-rows", type=int, default=1_000_000, help="of the assessed table")
    parser.add_argument(
        "--people", type=int, default=1_000_000, help="rows of the table of qs and anatomy"
    )
    parser.add_argument(
        "--individuals", type=int, default=250_000, help="of the table of identity; 4 records each"
    )
    parser.add_argument("--lgb-rows", type=int, help="of every table of lgb; all by default")
    parser.add_argument(
        "--lgb-queries", type=int, default=lgb.QUERIES, help="random sums per release of lgb"
    )
    parser.add_argument("--lgb-parts", nargs="*", choices=lgb.PARTS, default=lgb.PARTS)
    parser.add_argument(
        "--qs-exact", action="store_true", help="vary k and the rest in one block, too: slow"
    )
    parser.add_argument("--qs-parts", nargs="*", choices=qs.PARTS, default=qs.PARTS)
    parser.add_argument(
        "--background-rows",
        type=int,
        default=background_tables.ROWS,
        help="of every table of background",
    )
    parser.add_argument(
        "--background-people",
        type=int,
        default=background.PEOPLE,
        help="of the large table of background",
    )
    parser.add_argument(
        "--background-parts", nargs="*", choices=background.PARTS, default=background.PARTS
    )
    parser.add_argument(
        "--population", type=int, default=1_000_000, help="people of the guarded population of time"
    )
    parser.add_argument("--time-parts", nargs="*", choices=TIME, default=TIME)
    parser.add_argument("--requests", type=int, default=200, help="in the queue of requests")
    arguments = parser.parse_args()
    wanted = arguments.which or list(ALL)
    data = support.data_folder() if any(name in (*REAL, "time") for name in wanted) else None
    with support.bench_database() as dsn:
        _mondrian(dsn, data, wanted, arguments.rows)
        if "assess" in wanted:
            measured = assess.measure(dsn, arguments.assess_rows)
            assess.show(measured)
            support.write_json("assess", measured)
        if "qs" in wanted:
            _quasi_sensitive(dsn, data, arguments)
        if "anatomy" in wanted:
            found = anatomy.measure(dsn, data, arguments.people)
            anatomy.show(found)
            support.write_json("anatomy", found)
        if data is not None and "slamsa" in wanted:
            compared = slamsa.measure(dsn, data)
            slamsa.show(compared)
            support.write_json("slamsa", compared)
        if "identity" in wanted:
            kept = identity.measure(dsn, data, arguments.individuals)
            kept["claims"] = identity_claims.evaluate(kept)
            identity.show(kept)
            support.write_json("identity", kept)
            identity_plots.draw(kept, support.RESULTS)
        if data is not None and "lgb" in wanted:
            _local(dsn, data, arguments)
        if "background" in wanted:
            _background(dsn, data, arguments)
        if "time" in wanted:
            _over_time(dsn, data, arguments)
        if "requests" in wanted:
            served = requests.measure(dsn, arguments.requests)
            requests.show(served)
            support.write_json("requests", served)


def _over_time(dsn: str, data: Path | None, arguments: argparse.Namespace) -> None:
    found: dict[str, Any] = support.kept("time")
    found |= over_time.measure(dsn, arguments.population, arguments.time_parts)
    over_time.show(found)
    if data is not None and "increments" in arguments.time_parts:
        found["increments"] = list(increments.measure(dsn, data))
        support.write_json("time", found)  # kept if a later part fails
    if "increments" in found:
        increments.show(found["increments"])
    if data is not None and "recomputed" in arguments.time_parts:
        found["recomputed"] = list(recomputed.measure(dsn, data))
    if "recomputed" in found:
        recomputed.show(found["recomputed"])
    if data is not None and "leaving" in arguments.time_parts:
        found["leaving"] = list(leaving.measure(dsn, data))
    if "leaving" in found:
        leaving.show(found["leaving"])
    support.write_json("time", found)
    over_time_plots.draw(found, support.RESULTS)


def _background(dsn: str, data: Path | None, arguments: argparse.Namespace) -> None:
    found: dict[str, Any] = support.kept("background")
    for part, rows in background.measure(
        dsn,
        data,
        arguments.background_rows,
        arguments.background_people,
        arguments.background_parts,
    ):
        found[part] = rows
        support.write_json("background", found)  # kept if a later part fails
    found["claims"] = background_claims.evaluate(found)
    found["risk_and_utility"] = background.risk_and_utility(found)
    background.show(found)
    support.write_json("background", found)
    background_plots.draw(found, support.RESULTS)


def _local(dsn: str, data: Path, arguments: argparse.Namespace) -> None:
    rows, queries = arguments.lgb_rows, arguments.lgb_queries
    asked = {"rows": rows, "queries": queries}
    kept = support.kept("lgb")
    # Parts that were measured in the same sizes stay beside those of this run.
    found: dict[str, Any] = kept if kept.get("asked") == asked else {"asked": asked}
    for part, figures in lgb.measure(dsn, data, rows, queries, arguments.lgb_parts):
        found[part] = figures
        support.write_json("lgb", found)  # kept if a later part fails
    found["claims"] = lgb_claims.evaluate(found)
    lgb.show(found)
    support.write_json("lgb", found)
    lgb_plots.draw(found, support.RESULTS)


def _mondrian(dsn: str, data: Path | None, wanted: Sequence[str], rows: int) -> None:
    report: dict[str, Any] = {}
    if data is not None and "adult" in wanted:
        report["adult"] = mondrian.adult(dsn, data)
        mondrian.show_quality(report["adult"])
    speed: list[dict[str, Any]] = []
    if data is not None and "acs" in wanted:
        speed += mondrian.acs(dsn, data)
    if "generated" in wanted:
        speed += mondrian.generated(dsn, rows)
    if speed:
        report["speed"] = speed
        mondrian.show_speed(speed)
    if report:
        support.write_json("mondrian", report)


def _quasi_sensitive(dsn: str, data: Path | None, arguments: argparse.Namespace) -> None:
    bench = qs.Bench(dsn, data)
    report: dict[str, Any] = {}
    if data is not None:
        tables = qs.load_adult(dsn, data)
        for part, rows in qs.adult(
            bench, tables, exact=arguments.qs_exact, parts=arguments.qs_parts
        ):
            report[part] = rows
            support.write_json("qs", report)  # kept if a later part fails
        report["claims"] = qs_claims.evaluate(report)
    report["size"] = qs.generated(bench, arguments.people)
    report["skipped"] = {setting.text: why for setting, why in bench.skipped.items()}
    qs_tables.show(report)
    support.write_json("qs", report)
    qs_plots.draw(report, support.RESULTS)


if __name__ == "__main__":
    main()
