"""What a release would lose without each of its quasi-identifiers: a dry run for each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from pganon.errors import EXIT_REFUSED, EXIT_USAGE, PganonError
from pganon.forms.request import Request
from pganon.loading import policy_from
from pganon.policy.loader import LoadedPolicy
from pganon.run.options import Options
from pganon.run.result import RunResult

Run = Callable[[LoadedPolicy, Options], RunResult]


def with_costs(result: RunResult, loaded: LoadedPolicy, options: Options, run: Run) -> RunResult:
    """The result of a dry run with what GCP would be without each column of `reasons`."""
    how = replace(options, costs=False, metrics=Request())
    names = {column.published_as or name: name for name, column in loaded.policy.columns.items()}
    found = (
        replace(reason, gcp_without=_without(loaded, names[reason.column], how, run))
        for reason in result.reasons
    )
    return replace(result, reasons=tuple(found))


def _without(loaded: LoadedPolicy, column: str, how: Options, run: Run) -> float | None:
    """None where the policy needs the column, or no release can be made without it."""
    document = loaded.policy.document()
    del document["columns"][column]
    try:
        policy = policy_from(document)
        utility = run(replace(loaded, policy=policy), how).utility
        return utility.gcp if utility else None
    except PganonError as error:
        if error.exit_code not in (EXIT_REFUSED, EXIT_USAGE):
            raise
        return None
