"""A staged release as attacks see it."""

from __future__ import annotations

from dataclasses import dataclass

from pganon.attacks.shown import ShownView
from pganon.attacks.slices import combined, with_cells
from pganon.methods.common.minimality import Minimality
from pganon.plan.build import Plan
from pganon.plan.verification import staged_tables
from pganon.resolved.model import ReleaseSpec, Sensitive
from pganon.steps import State
from pganon.steps.relations import PublishedView, ViewColumn


@dataclass(frozen=True)
class Release:
    """A release whose relations are staged.

    Attributes:
        views: that show something of groups.
        home: what shows all quasi-identifiers, a view or combinations of several.
        minimality: what its groups tell who knows the method.
    """

    spec: ReleaseSpec
    views: tuple[ShownView, ...]
    home: ShownView | None
    minimality: Minimality | None = None

    @property
    def stated(self) -> list[ShownView]:
        """Views with quasi-identifiers, of whose rows something can be stated."""
        return [self.home] if self.home in self.views else [v for v in self.views if v.attributes]

    def of(self, item: Sensitive) -> ShownView | None:
        """The view with the values of a sensitive column by group."""
        return next((view for view in self.views if item in view.sensitive), None)

    def group_of(self, item: Sensitive) -> str | None:
        """The column of :attr:`home` with the group that the values of a column are of."""
        view, home = self.of(item), self.home
        if view is None or home is None:
            return None
        return view.group if view.bucket is not None else home.links.get(view.part, home.group)


def release_of(plan: Plan, state: State) -> Release:
    """The staged release of a run."""
    tables = staged_tables(plan.spec, plan.method, state)
    views = plan.method.form.publication.views(plan.spec, state, tables)
    found = [_shown(plan.spec, view) for view in views]
    every = set(plan.spec.attributes)
    some = [view for view in found if view is not None]
    home = next((view for view in some if set(view.attributes) == every), None)
    if home is None:
        taken = {column.name for view in views for column in view.columns}
        some = [with_cells(view, taken) for view in some]
        home = combined(some, plan.spec.attributes)
    return Release(plan.spec, tuple(some), home, plan.method.minimality)


def _shown(spec: ReleaseSpec, view: PublishedView) -> ShownView | None:
    located = {c.name: c for c in view.columns if c.bucket is not None}
    if not located:
        return None
    weight = next((c.name for c in view.columns if c.form == "count"), None)
    first = next(iter(located.values()))
    assert first.bucket is not None
    displays = {str(c.kind): c.name for c in view.columns if c.form == "display"}
    return ShownView(
        view,
        first.bucket,
        # A table of buckets has a column that some hide only as what is hidden.
        tuple(
            a
            for a in spec.attributes
            if a.published in located and (a.hidden is None or a.published in displays)
        ),
        tuple(s for s in spec.sensitive if _exactly(located.get(s.published))),
        tuple(p for p in spec.carried if _exactly(located.get(p.published))),
        weight,
        displays=displays,
    )


def _exactly(column: ViewColumn | None) -> bool:
    return column is not None and column.form == "exact"
