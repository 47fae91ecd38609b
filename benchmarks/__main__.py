"""`python -m benchmarks [adult] [acs] [generated] [--rows N]`: all of them by default."""

from __future__ import annotations

import argparse
from typing import Any

from benchmarks import mondrian, support

REAL = ("adult", "acs")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("which", nargs="*", choices=[*REAL, "generated", []], default=[])
    parser.add_argument("--rows", type=int, default=10_000_000, help="of the generated table")
    arguments = parser.parse_args()
    wanted = arguments.which or [*REAL, "generated"]
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
    support.write_json("mondrian", report)


if __name__ == "__main__":
    main()
