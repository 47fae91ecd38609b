"""Attack: roles that may little keep a release from being withdrawn, or others from being shown."""

from __future__ import annotations

from pganon.identifiers import QualifiedName
from pganon.publish import lifecycle
from pganon.publish.privileges import unopened
from tests.support.harness.cluster import Database
from tests.support.sources.staging import release


def test_what_others_have_under_the_name_of_a_withdrawn_view(db: Database) -> None:
    """Whoever may create tables there can change what others may do with them at any time."""
    conn = db.owner()
    db.admin.execute("GRANT CREATE, USAGE ON SCHEMA public TO steward")
    release(conn, view=QualifiedName("public", "adult"))
    lifecycle.withdraw(conn, "adult")
    with conn.transaction(), unopened(conn):
        db.connect("source_owner").execute(
            "CREATE TABLE public.adult (i int); GRANT SELECT ON public.adult TO analyst"
        )
