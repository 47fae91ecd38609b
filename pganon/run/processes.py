"""Tasks of a search on several cores."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import cast

from joblib import Parallel, delayed

from pganon.steps.tasks import Task, TaskResult

WORTH = 2_000
"""Tasks over fewer rows than this are done before other processes have started."""


def perform(tasks: Sequence[Task], rows: int, processes: int) -> Iterable[TaskResult]:
    """What the tasks found over so many rows, in their order.

    In this process where others do not pay.
    """
    if processes == 1 or len(tasks) < 2 or rows < WORTH:
        return (task() for task in tasks)
    # Processes of their own: they share no connection with this one, and import no main module.
    # Large arrays would else go through files, where codes of records have no business.
    workers = Parallel(
        n_jobs=min(processes, len(tasks)), backend="loky", return_as="generator", max_nbytes=None
    )
    return cast("Iterable[TaskResult]", workers(delayed(task)() for task in tasks))
