"""What the steward should know of a release of local groups and buckets."""

from __future__ import annotations

from collections.abc import Iterator

from pganon.forms.inference import Inferred
from pganon.identifiers import quote
from pganon.methods.common.form.attacks import NOTICEABLE, REMEDY, told_text
from pganon.methods.local.form import inferred
from pganon.methods.local.form.aligned import links
from pganon.methods.local.form.layout import Layout
from pganon.resolved.model import ReleaseSpec, Sensitive
from pganon.steps.facts import Facts


def warnings(spec: ReleaseSpec, facts: Facts) -> list[str]:
    return [*_told(spec, facts), *_own_predicates(spec), *_unmeasured(spec, facts)]


def _told(spec: ReleaseSpec, facts: Facts) -> Iterator[str]:
    """What is inferred, unless the policy says how much may be."""
    if spec.policy.inference is not None:
        return
    layout = Layout(spec)
    learned, taught = inferred.inferred(layout, facts), inferred.taught(layout, facts)
    for item in inferred.hidden_in(layout):
        found = learned[item.published]
        if found.told is not None and found.told > NOTICEABLE:
            yield f"{told_text(item, found)}; {REMEDY}"
        if item.hidden is not None:
            yield _taught(item, taught[item.published])


def _taught(item: Sensitive, found: Inferred) -> str:
    """However little it is in this release: it is what the guarantee does not speak of."""
    name = quote(item.published)
    said = f"records that show {name} teach readers about those that hide it: naive Bayes over"
    if found.share is None or found.accuracy is None:
        return f"{said} their other columns could not be measured"
    return (
        f"{said} their other columns tells the hidden values of a share of {found.share:.4g} of"
        f" these with a probability above {found.limit:.4g}, and is right as often; it guesses"
        f" {found.accuracy:.4g} of all right, where {found.allowed:.4g} is allowed"
    )


def _own_predicates(spec: ReleaseSpec) -> Iterator[str]:
    """Columns that are hidden because of their own value."""
    for name, column in spec.policy.columns.items():
        when = column.sensitive_when
        if when is not None and when.predicate is not None and name in when.columns:
            yield (
                f"column {quote(name)} is hidden where its own value fulfils a condition: that a"
                " record hides it says so to every reader"
            )


def _unmeasured(spec: ReleaseSpec, facts: Facts) -> Iterator[str]:
    """Pairs of columns that too few records hide both of."""
    for link in links(Layout(spec), facts):
        if link.few:
            yield (
                f"too few records hide both {quote(link.one.published)} and"
                f" {quote(link.other.published)} to measure whether their buckets tell of each"
                " other"
            )
