"""Fault: the source changes while a run goes on."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pganon.errors import PganonError
from tests.support.harness import faults
from tests.support.harness.cluster import Database

FIRST = "snapshot.snapshot"
CHANGES = [
    "INSERT INTO public.patient SELECT id + 100, 99, 'm', 'Rome', 'plague', 1 FROM public.patient",
    "UPDATE public.patient SET age = 99, disease = 'plague'",
    "DELETE FROM public.patient",
    "TRUNCATE public.patient",
    "DROP TABLE public.patient CASCADE",
    "ALTER TABLE public.patient DROP COLUMN age CASCADE",
    "REVOKE ALL ON public.patient FROM steward",
]


def _as_owner(db: Database, text: str) -> Callable[[], None]:
    return lambda: db.source(text, grant=False)


@pytest.mark.slow
@pytest.mark.primary_server_only
def test_after_the_snapshot_nothing_matters(db: Database) -> None:
    db.source(faults.SOURCE)
    faults.run(db.dsn(), stable=True)
    expected = faults.content(db.admin)
    for change in CHANGES:
        db.source("DROP TABLE IF EXISTS public.patient; " + faults.SOURCE)
        hook = faults.at("snapshot.inspect", _as_owner(db, change))
        faults.run(db.dsn(), before=hook, stable=True)
        assert faults.content(db.admin) == expected, change


# What is done between reading the catalog and reading the source, and the code it gives.
BEFORE = {
    "DROP TABLE public.patient": "source_changed",
    "ALTER TABLE public.patient DROP COLUMN age": "source_changed",
    "ALTER TABLE public.patient RENAME COLUMN age TO years": "source_changed",
    "ALTER TABLE public.patient ALTER age TYPE text": "source_changed",
    "ALTER TABLE public.patient ALTER age TYPE numeric": "source_changed",
    "ALTER TABLE public.patient ALTER sex DROP NOT NULL": "source_changed",
    "ALTER TABLE public.patient ADD note text": "source_changed",
    "ALTER TABLE public.patient RENAME TO old; CREATE TABLE public.patient AS TABLE public.old;"
    " GRANT SELECT ON public.patient TO steward": "source_changed",
    "REVOKE ALL ON public.patient FROM steward": "database",
    "ALTER TABLE public.patient ENABLE ROW LEVEL SECURITY": "database",
    "DELETE FROM public.patient": "empty_source",
    "DELETE FROM public.patient WHERE id > 5": "too_few_records",
}


@pytest.mark.slow
def test_before_the_snapshot_the_definition_is_held_to(db: Database) -> None:
    """Each gives its own error, publishes nothing and leaves nothing."""
    conn = db.owner()
    for change, code in BEFORE.items():
        db.source("DROP TABLE IF EXISTS public.patient, public.old; " + faults.SOURCE)
        with pytest.raises(PganonError) as caught:
            faults.run(db.dsn(), before=faults.at(FIRST, _as_owner(db, change)))
        assert caught.value.code == code, (change, caught.value)
        assert faults.SECRET not in f"{caught.value} {caught.value.hint}"
        assert faults.last_details(conn)["code"] == code, change
        assert faults.run_tables(conn) == [], change
    assert faults.content(conn) is None
    db.source("DROP TABLE public.patient; " + faults.SOURCE)
    assert faults.run(db.dsn()).version == 1


NAMED = {
    "ALTER TABLE public.patient RENAME COLUMN age TO years": "column age of public.patient was",
    "ALTER TABLE public.patient DROP COLUMN age": "column age of public.patient was dropped or",
    "ALTER TABLE public.patient ALTER age TYPE json USING to_json(age)": "column age of public",
    "ALTER TABLE public.patient ALTER age TYPE text": "column age of public.patient changed",
    "ALTER TABLE public.patient RENAME TO old": "public.patient was dropped or renamed",
}


@pytest.mark.parametrize("change", NAMED)
def test_what_changed_is_named(db: Database, change: str) -> None:
    db.source(faults.SOURCE)
    with pytest.raises(PganonError, match=NAMED[change]) as caught:
        faults.run(db.dsn(), before=faults.at(FIRST, _as_owner(db, change)))
    assert caught.value.code == "source_changed"


def test_new_rows_before_the_snapshot_are_released(db: Database) -> None:
    db.source(faults.SOURCE)
    hook = faults.at(FIRST, _as_owner(db, CHANGES[0]))
    assert faults.run(db.dsn(), before=hook).records == 48
