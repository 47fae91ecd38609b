"""All attacks on the release that a policy would make, and on one without some of the people.

The snapshot belongs to a run of its own, which publishes nothing, and so do the people, their order
and what is true of them. Both releases are dry runs of it, which are attacked while their staged
relations are there; they go when a dry run ends, however it ends.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sqlglot import exp

from pganon import database
from pganon.attacks import baseline, claims, inference, people
from pganon.attacks.curve import Guesses
from pganon.attacks.findings import Attacked, Attempt, Counted, Finding, NotMeasured, findings
from pganon.attacks.ledger_entries import recorded
from pganon.attacks.reader_view import Release, boxes, histogram, release_of
from pganon.encode.source import source_fingerprint
from pganon.error_codes import ErrorCode
from pganon.errors import PreconditionError, PrivacyRefusal, UsageError
from pganon.identifiers import QualifiedName
from pganon.plan.build import Plan, build_plan
from pganon.policy.loader import LoadedPolicy
from pganon.publish import sessions
from pganon.resolved.model import ReleaseSpec, Sensitive
from pganon.run.context import resolve_policy
from pganon.run.dry_run import refuse_growing, sharing
from pganon.run.options import OnMeasured, Options, SharedSnapshot, connect_run
from pganon.run.pipeline import Pipeline
from pganon.run.tables import create_table_as
from pganon.sqlfiles import Connection
from pganon.sqltools import col, query, stacked, statement, text
from pganon.steps import State

Found = list[tuple[Attempt, Counted]]

FEWEST = 20
"""People of a control group: of fewer the intervals say nothing."""


@dataclass(frozen=True)
class Settings:
    """What is measured.

    Attributes:
        targets: who are attacked, of those in the release and of the others.
        control: share of the people who are held out.
        seed: that all random choices follow.
        known_others: people of the target's group whom one of the adversaries knows.
        priors: shares of lists of people who are in the source.
    """

    targets: int = 3000
    control: float = 0.1
    seed: int = 1
    known_others: int = 1
    priors: tuple[float, ...] = (0.5, 0.1)


def attack(
    loaded: LoadedPolicy,
    settings: Settings,
    *,
    dsn: str | None = None,
    owner: str | None = None,
    session: database.Settings = database.RUN_SETTINGS,
    options: Options,
) -> Attacked:
    """Attack the release of a policy.

    Raises:
        UsageError: the release grows, or has a form that cannot be attacked yet.
        PreconditionError: too few people for a control group.
        PolicyError, PrivacyRefusal: there is no such release.
    """
    refuse_growing(loaded, "attack")

    def connect() -> Connection:
        return connect_run(dsn, owner=owner, settings=session, options=options)

    with contextlib.closing(connect()) as conn, sessions.translated():
        seeded = replace(options, dry_run=True, seed=str(settings.seed).encode())
        return _Attack(conn, connect, loaded, settings, seeded).run()


@dataclass
class _Attack:
    """`base`: state of the run that has the people, and that both dry runs belong to."""

    conn: Connection
    connect: Any
    loaded: LoadedPolicy
    settings: Settings
    options: Options
    base: State = field(init=False)

    def run(self) -> Attacked:
        # As the snapshot that runs share is: on this server, with a row for each record.
        spec = replace(resolve_policy(self.conn, self.loaded), shards=None, counted=False)
        _attackable(build_plan(spec), State(0))
        with sharing(self.conn, self.connect, self.loaded, spec, self.options, "attack") as shared:
            self.base = shared.state
            return self._attacked(spec, shared.snapshot)

    def _attacked(self, spec: ReleaseSpec, snapshot: SharedSnapshot) -> Attacked:
        drawn = self._make(self.base, people.DRAWN, people.drawn(spec, self.base))
        numbers = "select coalesce(max(d.place), 0)::bigint, count(*) from d"
        every, records = self._one(query(numbers, {"d": drawn}))
        held = round(self.settings.control * every)
        number = min(self.settings.targets, held, every - held)
        if min(held, every - held) < FEWEST:
            raise PreconditionError(
                f"{spec.source.name} has {every} people: a control group of {held} is too small, or"
                " leaves too few in the release",
                hint=f"hold out at least {FEWEST}, by another --control",
                code=ErrorCode.TOO_FEW_RECORDS,
            )
        without = self._make(self.base, people.SHADOW, people.shadow(spec, self.base, held))
        found: list[Found] = []
        data: list[bytes] = []

        def measured(plan: Plan, state: State) -> None:
            if not data:
                data.append(source_fingerprint(plan.spec, state.facts))
                self._make(self.base, people.KNOWN, people.known(plan.spec, self.base, state))
            release = _attackable(plan, state)
            found.append([*self._attempts(release, state, held if found else 0, number)])

        self._run(spec, "release", snapshot, measured)
        try:
            self._run(spec, "shadow release", snapshot.part(without), measured)
        except PrivacyRefusal as refusal:
            raise refusal.within("without the control group") from None
        models, (whole, shadow) = self._models(spec, held, number), found
        made = findings(whole, shadow, models, self.settings.priors)
        missing: list[NotMeasured] = []
        if len(spec.attributes) < 2:
            missing.append(NotMeasured("linkability", "people are known by one column alone"))
        if not spec.sensitive:
            missing.append(NotMeasured("inference", "the policy has no sensitive column"))
        attacked = Attacked(
            release=spec.policy.release,
            source=str(spec.source.name),
            run_id=snapshot.run_id,
            seed=self.settings.seed,
            records=records,
            people=every,
            control_people=held,
            targets=number,
            known_others=self.settings.known_others,
            learned=baseline.LEARNS,
            findings=tuple(self._named(spec, one) for one in made),
            not_measured=tuple(missing),
        )
        return recorded(self.conn, spec, data[0], attacked)

    def _run(
        self, spec: ReleaseSpec, name: str, snapshot: SharedSnapshot, measured: OnMeasured
    ) -> None:
        """A dry run that is attacked before it ends."""
        on_step = self.options.on_step
        options = replace(
            self.options,
            snapshot=snapshot,
            on_measured=measured,
            on_step=lambda phase, step, purpose: on_step(f"{name}: {phase}", step, purpose),
        )
        Pipeline(self.conn, self.connect, self.loaded, options).run_locked(spec)

    def _named(self, spec: ReleaseSpec, found: Finding) -> Finding:
        """With the value that is guessed alone in place of its digest."""
        if found.value_choice is None or found.value_choice.value is None:
            return found
        [item] = [item for item in spec.sensitive if item.published == found.column]
        value = query(
            "select k.v from (select :v as v from k) as k where :digest = :wanted limit 1",
            {"k": self.base.work(people.KNOWN)},
            v=col(f"v{item.index}", "k"),
            digest=inference.digest(self.base, col("v", "k")),
            wanted=text(found.value_choice.value),
        )
        return replace(found, value_choice=replace(found.value_choice, value=self._one(value)[0]))

    def _models(self, spec: ReleaseSpec, held: int, number: int) -> dict[str, list[Guesses]]:
        """What is guessed of those held out by who learned from the source of all others."""
        found: dict[str, list[Guesses]] = {}
        for item in spec.sensitive if baseline.LEARNS else ():
            self.options.on_step("attack", f"model{item.index}", "a model of people held out")
            records = baseline.records(spec, item, self.base, held, number)
            rows = self.conn.execute(statement(records)).fetchall()
            found[item.published] = baseline.guesses(rows, spec.attributes, self.settings.seed)
        return found

    def _attempts(
        self, release: Release, state: State, held: int, number: int
    ) -> Iterator[tuple[Attempt, Counted]]:
        """All attacks on a staged release; `held` people are not in it."""
        spec, home = release.spec, release.home
        assert home is not None  # the form was checked
        targets = self._make(state, people.TARGETS, people.targets(self.base, held, number))
        groups = list(dict.fromkeys(filter(None, map(release.group_of, spec.sensitive))))
        groups = groups or [home.group]
        made = self._make(state, "attack_boxes", boxes(home, groups))
        stated: list[exp.Select] = []
        for place, view in enumerate(release.stated):
            drawn = claims.predicates(view, self.base, self.settings.targets)
            rows = self._make(state, f"attack_predicates{place}", drawn)
            known = self.base.work(people.KNOWN)
            stated.append(claims.singled(view, rows, known, held))
        yield Attempt("singling_out", "published_row"), self._counted(stacked(stated))
        if len(spec.attributes) > 1:
            linked = claims.linked(spec.attributes, made, targets)
            yield Attempt("linkability", "two_sources"), self._counted(linked)
        may = [
            self._make(
                state,
                f"attack_candidates{place}",
                inference.candidates(spec, made, targets, f"g{place}"),
            )
            for place, _ in enumerate(groups)
        ]
        found: Found = []
        values: dict[int, list[tuple[Sensitive, QualifiedName]]] = {}
        for item in spec.sensitive:
            view, group = release.of(item), release.group_of(item)
            assert view is not None
            assert group is not None
            hist = self._make(state, f"attack_hist{item.index}", histogram(view, item))
            place = groups.index(group)
            values.setdefault(place, []).append((item, hist))
            others = self.settings.known_others
            guesses = {
                "quasi_identifiers": inference.by_groups(may[place], hist, targets),
                "others_known": inference.others_known(
                    may[place], hist, targets, item, self.base, others
                ),
                "correlations": inference.correlations(spec, made, hist, targets, f"g{place}"),
            }
            for adversary, guess in guesses.items():
                counted = self._guessed(inference.guessed(guess, targets, item, self.base), held)
                found.append((Attempt("inference", adversary, item.published), counted))
        admitted = query("select c.t from c", {"c": may[0]})
        yield Attempt("membership", "list"), self._counted(claims.listed([admitted], targets))
        if values:
            records = [claims.whole_record(may[at], some, targets) for at, some in values.items()]
            whole = self._counted(claims.listed(records, targets))
            yield Attempt("membership", "whole_record"), whole
        yield from found

    def _guessed(self, select: exp.Select, held: int) -> Counted:
        rows = self.conn.execute(statement(select)).fetchall()
        inside, outside = ([Guesses(*r[1:]) for r in rows if r[0] is out] for out in (False, True))
        return Counted(
            sum(one.right for one in inside),
            sum(one.n for one in inside),
            sum(one.right for one in outside),
            sum(one.n for one in outside),
            # They are the same people in both releases.
            tuple(outside if held else inside),
        )

    def _make(self, state: State, name: str, select: exp.Expr) -> QualifiedName:
        """A private table of a run."""
        self.options.on_step("attack", name, "attacks on a staged release")
        target = state.work(name)
        create_table_as(self.conn, target, statement(select), analyze=True)
        return target

    def _counted(self, claimed: exp.Select) -> Counted:
        return Counted(*self._one(claims.counted(claimed)))

    def _one(self, select: exp.Select) -> Sequence[Any]:
        row = self.conn.execute(statement(select)).fetchone()
        assert row is not None
        return row


def _attackable(plan: Plan, state: State) -> Release:
    """A release whose form attacks are written for; its records may decide how it is sliced."""
    release = release_of(plan, state)
    if release.home is None or not all(map(release.of, plan.spec.sensitive)):
        raise UsageError(
            f"releases of {plan.method.form.publication.groups} that {plan.method.name} makes"
            " cannot be attacked yet",
            hint="attacks are measured of releases in which every value of a table is somebody's",
        )
    return release
