"""The figures that every run computes, whatever the published form.

Definitions are in docs/reference/measures.md.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Self

from pydantic import SkipValidation, TypeAdapter

from pganon.forms.facts import (
    CLASSES,
    LARGEST,
    RELEASED,
    SMALLEST,
    SQUARES,
    SUPPRESSED,
    WEIGHTED_LOSS,
    ncp,
)
from pganon.forms.inference import Inferred, Related, strongest
from pganon.resolved.model import ReleaseSpec
from pganon.steps.facts import RECORDS, Facts


class Recorded:
    """Figures that a version stores as JSON, a dataclass.

    Those that it does not have, since it was published before they were measured, have defaults.
    """

    @classmethod
    def recorded(cls, document: Mapping[str, Any]) -> Self:
        """The figures as a version remembers them."""
        return TypeAdapter(cls).validate_python(document)


Loss = Annotated[float, SkipValidation]
"""What is lost; a version of which few people are left out tells others than the steward None."""


@dataclass(frozen=True)
class Risk:
    """Prosecutor's risk of the records that are released: highest, and mean over them."""

    highest: float
    mean: float


@dataclass(frozen=True)
class Utility(Recorded, ABC):
    """Utility of a release. A form adds its own fields, which must be representable in JSON.

    Attributes:
        gcp: global certainty penalty in [0, 1]: mean weighted NCP over all source records, a
            suppressed record counting 1.
        ncp: mean NCP of every grouped column over the released records.
        columns: the role of the columns of `ncp`.
    """

    columns: ClassVar[str] = "quasi-identifier"

    gcp: Loss
    ncp: dict[str, Loss]

    @property
    def risk(self) -> Risk | None:
        """None where quasi-identifiers are published so that it says nothing."""
        return None

    @property
    def exact(self) -> bool:
        """Whether quasi-identifiers are published as they are, so that people can be found."""
        return False

    @property
    def most(self) -> Mapping[str, float]:
        """By sensitive column the largest share of a group or bucket that one value has."""
        return {}

    @property
    @abstractmethod
    def number_of_groups(self) -> int: ...

    @abstractmethod
    def summary(self) -> dict[str, str]:
        """Label and text of the lines that a run prints."""

    @abstractmethod
    def details(self) -> dict[str, str]:
        """Label and text of the lines that `pganon show` prints for a version."""


@dataclass(frozen=True)
class ClassUtility(Utility):
    """Utility and risk of a release of classes.

    Attributes:
        discernibility: sum of squared class sizes plus source records per suppressed record.
        average_class: average equivalence class size over the smallest one allowed (AEC).
        highest_risk, mean_risk: prosecutor risk, 1 / class size, highest and mean over records.
    """

    discernibility: float
    average_class: float
    classes: int
    smallest_class: int
    largest_class: int
    highest_risk: float
    mean_risk: float

    @property
    def risk(self) -> Risk:
        return Risk(self.highest_risk, self.mean_risk)

    @property
    def number_of_groups(self) -> int:
        return self.classes

    def summary(self) -> dict[str, str]:
        return {
            "classes": self._sizes,
            "GCP": f"{self.gcp:.6f}",
            "risk": f"{self.highest_risk:.4g} at most, {self.mean_risk:.4g} on average"
            " (prosecutor)",
        }

    def details(self) -> dict[str, str]:
        return {
            "classes": self._sizes,
            "GCP": f"{self.gcp:.4g}",
            "discernibility": f"{self.discernibility:g}",
            "average class": f"{self.average_class:.4g}",
        }

    @property
    def _sizes(self) -> str:
        return f"{self.classes} of {self.smallest_class} to {self.largest_class} records"


def class_utility(spec: ReleaseSpec, facts: Facts) -> ClassUtility:
    """The figures from what :func:`pganon.metrics.loss.basic` observed."""
    records, suppressed = facts[RECORDS], facts[SUPPRESSED]
    released, classes = facts[RELEASED], facts[CLASSES]
    return ClassUtility(
        gcp=(facts[WEIGHTED_LOSS] + suppressed) / records,
        ncp={a.published: facts[ncp(a.index)] for a in spec.attributes},
        discernibility=facts[SQUARES] + float(suppressed) * records,
        average_class=released / classes / spec.minimum_size,
        classes=classes,
        smallest_class=facts[SMALLEST],
        largest_class=facts[LARGEST],
        highest_risk=1 / facts[SMALLEST],
        mean_risk=classes / released,
    )


@dataclass(frozen=True)
class Combinations:
    """Combinations of one QS set over the clusters."""

    least: float
    median: float
    mean: float
    most: float


@dataclass(frozen=True)
class Posterior:
    """Inference about one QS set by a reader who counts the worlds that fit a cluster.

    Attributes:
        worst: highest probability of a combination for a record; None if no cluster was counted.
        clusters: that are small enough for their worlds to be counted.
    """

    worst: float | None
    clusters: int


@dataclass(frozen=True)
class ClusterUtility(Utility):
    """Utility of a release of clusters.

    Attributes:
        ncp_total: sum of cluster size times NCP, a suppressed record counting the number of
            attributes.
        constants: pairs of a cluster and an attribute that has one value in it.
        product, supported: combinations by QS set: all of the product of a cluster's values, and
            those of them that exist.
        posterior: by QS set, where combinations that exist count.
    """

    columns = "quasi-sensitive attribute"

    ncp_total: Loss
    clusters: int
    smallest_cluster: int
    mean_cluster: float
    largest_cluster: int
    constants: int
    product: dict[str, Combinations]
    supported: dict[str, Combinations]
    posterior: dict[str, Posterior] = field(default_factory=dict)

    @property
    def number_of_groups(self) -> int:
        return self.clusters

    def summary(self) -> dict[str, str]:
        return {
            "clusters": f"{self.clusters} of {self.smallest_cluster} to {self.largest_cluster}"
            f" records, {self.mean_cluster:.4g} on average",
            "GCP": f"{self.gcp:.6f}",
            **{
                f"set {name}": f"{self.product[name].least:.15g} to"
                f" {self.product[name].most:.15g} combinations,"
                f" {self.supported[name].least:.15g} to {self.supported[name].most:.15g} of them"
                " exist"
                for name in self.product
            },
            **{
                f"posterior {name}": f"{found.worst:.4g} at most, counted in {found.clusters} of"
                f" {self.clusters} clusters"
                for name, found in self.posterior.items()
                if found.worst is not None
            },
            "single values": f"{self.constants} times an attribute has one value in a cluster",
        }

    def details(self) -> dict[str, str]:
        return {**self.summary(), "total NCP": f"{self.ncp_total:.6g}"}


@dataclass(frozen=True)
class Degree:
    """Disclosure of one sensitive column by its buckets.

    Attributes:
        degree: privacy degree Deg(P), records of a bucket per record of its most frequent value,
            lowest over the buckets; its reciprocal is the highest probability of a value.
        reconstruction_error: sum over the records of the squared distance between the record and
            its probability distribution (RCE; Xiao and Tao 2006).
        informed: local informed risk, highest over the records: how probable a value is to who
            knows which values of different tables go together; None if all tables have the same
            buckets, or in versions before it was measured.
    """

    degree: float
    reconstruction_error: float
    informed: float | None = None


@dataclass(frozen=True)
class AnatomyUtility(Utility):
    """Utility of an anatomized release. The link is lost; quasi-identifiers mostly are exact.

    Attributes:
        gcp, ncp: how far apart the quasi-identifiers of a bucket are, as the loss if they were
            generalized; a suppressed record counts 1. The mean over all
            partitions where there are several.
        groups, smallest_group, largest_group: buckets of all partitions.
        sensitive: by published column.
        inferred: by published sensitive column, the results of naive Bayes.
        related: the columns that are most associated with a sensitive one.
        objective, baseline: sum over the records of the distance to the mean of their bucket, as
            found and as the deterministic optimizer has it; None for methods that do not search.
        generalized: whether quasi-identifiers are published so that the loss is that of readers;
            None in versions that do not say.
    """

    groups: int
    smallest_group: int
    largest_group: int
    sensitive: dict[str, Degree]
    inferred: dict[str, Inferred] = field(default_factory=dict)
    related: tuple[Related, ...] = ()
    objective: float | None = None
    baseline: float | None = None
    generalized: bool | None = None

    @property
    def exact(self) -> bool:
        return not self.generalized

    @property
    def most(self) -> Mapping[str, float]:
        return {name: 1 / found.degree for name, found in self.sensitive.items()}

    @property
    def number_of_groups(self) -> int:
        return self.groups

    def summary(self) -> dict[str, str]:
        shown = {
            "groups": f"{self.groups} of {self.smallest_group} to {self.largest_group} records",
            **self._spread,
            **{
                f"probability of {name}": f"{1 / found.degree:.4g} at most"
                for name, found in self.sensitive.items()
            },
            **{
                f"informed risk of {name}": f"{found.informed:.4g} at most, for who knows which"
                " values go together"
                for name, found in self.sensitive.items()
                if found.informed is not None
            },
            **{f"inference of {name}": found.text for name, found in self.inferred.items()},
        }
        if self.objective is not None and self.baseline is not None:
            shown["objective"] = f"{self.objective:.6g} ({self.baseline:.6g} without fireflies)"
        return shown

    def details(self) -> dict[str, str]:
        return {
            **self.summary(),
            **{
                f"reconstruction of {name}": f"{found.reconstruction_error:.6g} (error)"
                for name, found in self.sensitive.items()
            },
            **({"associated": strongest(self.related)} if self.inferred else {}),
        }

    @property
    def _spread(self) -> dict[str, str]:
        if self.generalized:
            return {"GCP": f"{self.gcp:.6f}"}
        exact = "" if self.generalized is None else ", which are published exactly"
        return {"spread": f"{self.gcp:.6f} (GCP of the groups{exact})"}


@dataclass(frozen=True)
class IdentityUtility(ClassUtility):
    """Utility and risk of a release that keeps the records of individuals together.

    GCP is the normalized loss NLoss of the paper: source records are exact, suppressed ones cost 1.

    Attributes:
        individuals: that are released.
        vulnerable: share of the classes with a reasoning set of fewer than l values; None without
            a requirement that has an l.
        highest_share: of a class's individuals that hold one value, highest over the classes.
        smallest_count_group: individuals of a class with equally many records, fewest.
        exposed: individuals of whom a value that nobody else in the class has gives away others.
    """

    individuals: int
    vulnerable: float | None
    highest_share: float
    smallest_count_group: int
    exposed: int

    def summary(self) -> dict[str, str]:
        shown = {
            **super().summary(),
            "individuals": str(self.individuals),
            "value": f"held by {self.highest_share:.4g} of a class's individuals at most",
            "linked": f"{self.exposed} individuals by a value that nobody else in the class has;"
            f" records are counted the same by {self.smallest_count_group} in a class at least",
        }
        if self.vulnerable is not None:
            shown["vulnerable"] = f"{self.vulnerable:.4g} of the classes"
        return shown

    def details(self) -> dict[str, str]:
        return {**super().details(), **self.summary()}
