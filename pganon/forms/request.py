"""Measures on request, beyond the figures that every run computes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Any, Literal

from pganon.error_codes import ErrorCode
from pganon.errors import UsageError


@dataclass(frozen=True)
class Workload:
    """Random queries; the same ones for every release of the same source.

    Attributes:
        queries: how many.
        predicates: quasi-identifiers that each query restricts, at most all of them.
        selectivity: share of the combinations of values that a query asks for, in (0, 1].
        seed: decides which queries.
        sensitive: whether every query restricts a sensitive column, too; None: as the published
            form has it.
    """

    queries: int = 1000
    predicates: int = 2
    selectivity: float = 0.05
    seed: int = 1
    sensitive: bool | None = None

    def __post_init__(self) -> None:
        if not 1 <= self.queries <= 1_000_000:
            raise _wrong("queries must be from 1 to 1000000")
        if self.predicates < 1:
            raise _wrong("predicates must be at least 1")
        if not 0 < self.selectivity <= 1:
            raise _wrong("selectivity must be above 0 and at most 1")
        if not -(2**63) <= self.seed < 2**63:
            raise _wrong("seed must be a whole number of 64 bits")


Restricts = Literal["no", "yes", "always"]
"""Whether queries on a published form restrict a sensitive column if the request does not say."""


CLASSIFIERS = ("logistic", "forest", "bayes")


@dataclass(frozen=True)
class Classify:
    """A column to be predicted from the quasi-identifiers.

    Attributes:
        target: its published name.
        how: one of CLASSIFIERS.
        seed: decides, with the name, how records are divided.
    """

    target: str
    how: str = CLASSIFIERS[0]
    seed: int = 0


@dataclass(frozen=True)
class Request:
    """Which metrics a run computes.

    Attributes:
        everything: all that need no workload; they read the source's codes several times.
        workload: random queries, or none.
        vulnerable: share of a class's most frequent sensitive value above which the class counts
            as vulnerable.
        classify: what is predicted, or nothing.
    """

    everything: bool = False
    workload: Workload | None = None
    vulnerable: float = 0.5
    classify: Classify | None = None

    @property
    def nothing(self) -> bool:
        return not self.everything and self.workload is None and self.classify is None

    def settled(self, restricts: Restricts, *, sensitive: bool) -> Request:
        """The request with the form's defaults filled in; `sensitive`: there is such a column.

        Raises:
            UsageError: the workload says `no` where the form says `always`.
        """
        if self.workload is None:
            return self
        asked = self.workload.sensitive
        if asked is False and restricts == "always":
            raise UsageError(
                "workload: sensitive=no says nothing of tables that buckets link",
                hint="their quasi-identifiers are apart from sensitive values;"
                " leave out sensitive=no",
            )
        chosen = restricts != "no" if asked is None else asked
        return replace(self, workload=replace(self.workload, sensitive=chosen and sensitive))


def parse_classify(text: str) -> Classify:
    """What `--classify` says: `TARGET`, or `TARGET:HOW`.

    Raises:
        UsageError: there is no target; scikit-learn is not installed.
    """
    target, colon, how = text.rpartition(":")
    asked = Classify(target, how) if colon and how in CLASSIFIERS else Classify(text)
    if not asked.target:
        raise UsageError(
            "--classify names no column",
            hint=f"write a column, and perhaps one of {', '.join(CLASSIFIERS)}: income:forest",
        )
    if find_spec("sklearn") is None:
        raise UsageError(
            "--classify needs the package scikit-learn, which is not installed",
            hint="pip install 'pganon[learn]'",
            code=ErrorCode.NO_SKLEARN,
        )
    return asked


def parse_workload(text: str) -> Workload:
    """A workload from `queries=1000,predicates=2,selectivity=0.05,seed=1,sensitive=yes`.

    Any part may be left out.

    Raises:
        UsageError: a part is unknown or given twice, or its value is out of bounds.
    """
    kinds: dict[str, Callable[[str], Any]] = {
        "queries": int,
        "predicates": int,
        "selectivity": float,
        "seed": int,
        "sensitive": {"yes": True, "no": False}.__getitem__,
    }
    found: dict[str, Any] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, _, value = part.partition("=")
        if name not in kinds:
            raise _wrong(f"unknown part: {name}")
        if name in found:
            raise _wrong(f"{name} is given twice")
        try:
            found[name] = kinds[name](value)
        except KeyError:
            raise _wrong(f"{name} is yes or no") from None
        except ValueError:
            raise _wrong(f"{name} is not a number") from None
    return Workload(**found)


def _wrong(problem: str) -> UsageError:
    return UsageError(
        f"workload: {problem}",
        hint="for example queries=1000,predicates=2,selectivity=0.05,seed=1,sensitive=yes",
    )
