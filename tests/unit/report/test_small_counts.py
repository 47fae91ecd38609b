"""What a form says of few people is not told, as no bin of the evidence is of fewer."""

from __future__ import annotations

from typing import Any

import pytest

from pganon.forms.inference import Inferred
from pganon.forms.utility import IdentityUtility
from pganon.methods.individuals import form as of_individuals
from pganon.methods.local import form as of_local
from pganon.methods.local.form.statistics import BucketStatistics, LocalUtility
from pganon.report.document import document
from tests.support.harness.documents import valid
from tests.support.sources.reports import collected

SMALLEST = 11


def of_buckets(cells: int) -> dict[str, Any]:
    utility = LocalUtility(
        gcp=0.1,
        ncp={"age": 0.1},
        paper_gcp=0.1,
        discernibility=9.0,
        groups=3,
        smallest_group=4,
        largest_group=9,
        buckets={"zip": BucketStatistics(cells, 2, 4, 5, 0.25)},
        inferred={"zip": Inferred(cells, 0.5, 0.3, 0.2, 0.1, 0.5, 0.1)},
        taught={"zip": Inferred(cells, 0.5, 0.3, 0.2, 0.1, 0.5, 0.1)},
    )
    return {"utility": utility, "tells": of_local.tell}


def of_exposed(exposed: int) -> dict[str, Any]:
    sizes: dict[str, Any] = {"classes": 3, "smallest_class": 4, "largest_class": 9}
    utility = IdentityUtility(
        gcp=0.1,
        ncp={"age": 0.1},
        discernibility=9.0,
        average_class=1.0,
        **sizes,
        highest_risk=0.25,
        mean_risk=0.2,
        individuals=20,
        vulnerable=None,
        highest_share=0.5,
        smallest_count_group=2,
        exposed=exposed,
    )
    return {"utility": utility, "tells": of_individuals.tell}


def hidden(of: dict[str, Any]) -> list[str]:
    """Labels of what the report does not tell."""
    few = [f"This is of fewer than {SMALLEST} people, so it is not told."]
    report = valid(document(collected(**of)))
    return [one["label"] for one in report["form"] if one["parts"] == few]


@pytest.mark.parametrize("people", [1, SMALLEST - 1])
def test_what_is_of_few_is_not_told(people: int):
    assert hidden(of_buckets(people)) == [
        "buckets of zip",
        "learning zip",
        "learning zip from others",
    ]
    assert hidden(of_exposed(people)) == ["a value that nobody else has"]


@pytest.mark.parametrize("people", [0, SMALLEST])
def test_what_is_of_nobody_or_of_enough_is_told(people: int):
    assert hidden(of_buckets(people)) == []
    assert hidden(of_exposed(people)) == []
