"""The staged version as it is compared with earlier versions about the same people."""

from __future__ import annotations

from pganon.forms.form import PublishedForm
from pganon.forms.group_data import HISTOGRAM, linked, manner, shown_columns
from pganon.forms.groups import GROUPS
from pganon.history.invariance.signatures import InvariantVersion
from pganon.history.model import GroupTables, NewVersion
from pganon.resolved.invariance import Signatures
from pganon.resolved.model import ReleaseSpec
from pganon.steps import State


def new_version(spec: ReleaseSpec, form: PublishedForm, state: State) -> NewVersion:
    """The version for the rule about groups, without what is known at publication."""
    link = linked(spec, form, state).links[0]
    return NewVersion(
        manner(spec, form, state), GroupTables(state.stage("members"), state.stage(GROUPS), link)
    )


def invariant_version(
    spec: ReleaseSpec, form: PublishedForm, state: State, before: Signatures | None
) -> InvariantVersion:
    """The version for m-invariance.

    Args:
        before: signatures of people in earlier versions.
    """
    names = spec.invariant_columns
    columns = [column.name for column in linked(spec, form, state).columns]
    return InvariantVersion(
        names,
        tuple(shown_columns(spec).index(name) + 1 for name in names),
        tuple(columns.index(name) + 1 for name in names),
        lambda s: new_version(spec, form, s).tables,
        lambda s: s.stage(HISTOGRAM),
        before,
        lambda s: linked(spec, form, s).rows,
    )
