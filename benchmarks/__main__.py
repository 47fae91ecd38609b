"""`python -m benchmarks [adult] [acs] [generated] [assess] [--rows N] [--assess-rows N]`.

All of them by default.
"""

from __future__ import annotations

import argparse
from typing import Any

from benchmarks import assess, mondrian, support

REAL = ("adult", "acs")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("which", nargs="*", choices=[*REAL, "generated", "assess", []], default=[])
    parser.add_argument("--rows", type=int, default=10_000_000, help="of the generated table")
    parser.add_argument("--assess-rows", type=int, default=1_000_000, help="of the assessed table")
    arguments = parser.parse_args()
    wanted = arguments.which or [*REAL, "generated", "assess"]
    data = support.data_folder() if any(name in REAL for name in wanted) else None
    report: dict[str, Any] = {}
    with support.bench_database() as dsn:
        if data is not None and "adult" in wanted:
            report["adult"] = mondrian.adult(dsn, data)
            mondrian.show_quality(report["adult"])
        speed: list[dict[str, Any]] = []
        if data is not None and "acs" in wanted:
            speed += mondrian.acs(dsn, data)
        if "generated" in wanted:
            speed += mondrian.generated(dsn, arguments.rows)
        if speed:
            report["speed"] = speed
            mondrian.show_speed(speed)
        if "assess" in wanted:
            measured = assess.measure(dsn, arguments.assess_rows)
            assess.show(measured)
            support.write_json("assess", measured)
    if report:
        support.write_json("mondrian", report)


if __name__ == "__main__":
    main()
