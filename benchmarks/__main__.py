"""`python -m benchmarks`, with the names of some of them.

By default all but those that install programs of others.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks import page, support
from benchmarks.anatomy import Anatomy
from benchmarks.assess import Assess
from benchmarks.background import Background
from benchmarks.benchmark import RESULTS, Benchmark, run
from benchmarks.citus import Citus
from benchmarks.classes import Classes
from benchmarks.estimates import Estimated
from benchmarks.full_domain import FullDomain
from benchmarks.identity import Identity
from benchmarks.lgb import Lgb
from benchmarks.over_time import OverTime
from benchmarks.papers import PAPERS
from benchmarks.peers import Peers
from benchmarks.qs import Qs
from benchmarks.requests import Requests
from benchmarks.slamsa import Slamsa

BENCHMARKS: Mapping[str, type[Benchmark]] = {
    "classes": Classes,
    "full_domain": FullDomain,
    "assess": Assess,
    "qs": Qs,
    "anatomy": Anatomy,
    "slamsa": Slamsa,
    "identity": Identity,
    "lgb": Lgb,
    "background": Background,
    "estimates": Estimated,
    "time": OverTime,
    "requests": Requests,
    "citus": Citus,
    "peers": Peers,
}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=__doc__,
        epilog="\n".join(_described(name) for name in BENCHMARKS),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", help="of benchmarks")
    parser.add_argument(
        "--parts",
        nargs="*",
        metavar="PART",
        help="run these only, and show the figures of the last run beside them; none of them to"
        " show and draw these again",
    )
    parser.add_argument(
        "--set",
        nargs="+",
        default=[],
        metavar="SETTING=VALUE",
        help="a number, a list such as [5,10], or an absolute path",
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help="say in the end how many claims hold and which do not; status 1 if some do not",
    )
    parser.add_argument(
        "--papers",
        action="store_true",
        help="run what repeats the experiments of papers, with the settings of their page; without"
        " --parts those that the folder of results does not have yet",
    )
    parser.add_argument(
        "--page",
        type=Path,
        metavar="FILE",
        help="in the end, write the page about the papers from what was measured, from the folder"
        " of results where it has the settings of a paper, and from the figures that are kept"
        " beside it; alone it measures nothing",
    )
    given = parser.parse_args(arguments)
    names = _names(given)
    try:
        settings = dict(_setting(text) for text in given.set)
        repeated = given.papers
        chosen = [(name, *_chosen(name, given.parts, settings, repeated)) for name in names]
        _check_used(names, given.parts or [], settings)
    except ValueError as problem:
        parser.error(str(problem))
    resumes = repeated and given.parts is None
    found = {
        name: run(name, BENCHMARKS[name], own, parts, resumes=resumes)
        for name, parts, own in chosen
    }
    if given.page:
        measured = {name: parts for name, parts, _ in chosen}
        page.write(given.page, PAPERS, BENCHMARKS, RESULTS, measured)
    if given.check:
        failed = [name for name, one in found.items() if not support.check(name, one)]
        raise SystemExit(1 if failed else 0)


def _names(given: argparse.Namespace) -> list[str]:
    if given.names:
        return given.names
    if given.papers:
        return [paper.benchmark for paper in PAPERS]
    if given.page:
        return []
    return [name for name, kind in BENCHMARKS.items() if not kind.installs]


def _described(name: str) -> str:
    kind = BENCHMARKS[name]
    settings = " ".join(
        f"{key}={json.dumps(value, separators=(',', ':'))}"
        for key, value in kind.defaults().items()
    )
    return f"{name}\n  parts: {' '.join(kind.parts)}\n  settings: {settings}"


def _setting(text: str) -> tuple[str, Any]:
    name, _, value = text.partition("=")
    if value.startswith("/"):
        return name, value
    try:
        return name, _tuples(json.loads(value))
    except json.JSONDecodeError:
        raise ValueError(
            f"{text}: the value must be a number, a list or an absolute path"
        ) from None


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def _chosen(
    name: str, parts: Sequence[str] | None, settings: Mapping[str, Any], repeated: bool = False
) -> tuple[list[str], dict[str, Any]]:
    """The parts and the settings of a benchmark among those that were asked for.

    Args:
        repeated: only parts of a paper, with its settings unless others are given.
    """
    if name not in BENCHMARKS:
        raise ValueError(f"there is no benchmark {name}; there are {', '.join(BENCHMARKS)}")
    kind = BENCHMARKS[name]
    own = {key: value for key, value in settings.items() if key in kind.defaults()}
    papers = [paper for paper in PAPERS if repeated and paper.benchmark == name]
    for paper in papers:
        own = {**paper.settings, **own}
    known = [part for paper in papers for part in paper.parts] if repeated else kind.parts
    wanted = [part for part in kind.parts if part in known]
    return [part for part in wanted if parts is None or part in parts], own


def _check_used(names: Sequence[str], parts: Sequence[str], settings: Mapping[str, Any]) -> None:
    kinds = [BENCHMARKS[name] for name in names]
    for what, given, known in (
        ("part", parts, {part for kind in kinds for part in kind.parts}),
        ("setting", settings, {name for kind in kinds for name in kind.defaults()}),
    ):
        unknown = [name for name in given if name not in known]
        if unknown:
            raise ValueError(f"no {what} of {', '.join(names)}: {', '.join(unknown)}")


if __name__ == "__main__":
    main()
