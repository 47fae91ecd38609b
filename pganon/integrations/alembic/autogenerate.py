"""Policies of a folder beside those in the database, for `alembic revision --autogenerate`."""

from __future__ import annotations

import logging
from pathlib import Path

from alembic.autogenerate.api import AutogenContext
from alembic.operations.ops import UpgradeOps
from alembic.runtime.plugins import Plugin
from alembic.util import DispatchPriority, PriorityDispatchResult
from sqlalchemy.exc import ProgrammingError

from pganon import sqlfiles
from pganon.applied.files import policy_files
from pganon.applied.store import portable
from pganon.errors import PolicyError, UsageError
from pganon.hierarchies.files import check_files
from pganon.identifiers import OWN_SCHEMAS
from pganon.integrations.alembic.operations import (
    ApplyPolicyOp,
    Document,
    ReleaseOp,
    errors_of_alembic,
)
from pganon.loading import load_policy, policy_from
from pganon.policy.model import policy_hash

log = logging.getLogger("alembic.pganon")
POLICIES = "pganon_policies"
"""The option of `context.configure` that names the folder."""


def setup(plugin: Plugin) -> None:
    """Register what is compared; Alembic calls it once."""
    plugin.add_autogenerate_comparator(_leave_out, "schema", priority=DispatchPriority.FIRST)
    plugin.add_autogenerate_comparator(_compare, "autogenerate", priority=DispatchPriority.LAST)


def _leave_out(
    context: AutogenContext, upgrade_ops: UpgradeOps, schemas: set[str | None]
) -> PriorityDispatchResult:
    """Tables of pganon are in no model, and yet nobody is to drop them."""
    schemas.difference_update(OWN_SCHEMAS)
    return PriorityDispatchResult.CONTINUE


def _compare(context: AutogenContext, upgrade_ops: UpgradeOps) -> PriorityDispatchResult:
    """Policies of the folder that differ from those in the database, each with its release."""
    with errors_of_alembic():
        changed = _changed(context)
    if changed and not upgrade_ops.is_empty():
        names = ", ".join(str(op.document["release"]) for op in changed)
        log.warning(
            "policies differ from those in the database: %s. A release has a revision of its own:"
            " apply this one, then run --autogenerate again",
            names,
        )
        return PriorityDispatchResult.CONTINUE
    for op in changed:
        upgrade_ops.ops += [op, ReleaseOp(str(op.document["release"]))]
    return PriorityDispatchResult.CONTINUE


def _changed(context: AutogenContext) -> list[ApplyPolicyOp]:
    folder = context.opts.get(POLICIES)
    if folder is None:
        raise UsageError(
            'the plugin "pganon" of Alembic does not know where the policies are',
            hint=f'context.configure(..., {POLICIES}="FOLDER") in env.py',
        )
    assert context.connection is not None  # autogenerate works on a database
    query = sqlfiles.query("policies", "portable").decode()
    try:
        rows = context.connection.exec_driver_sql(query).fetchall()
    except ProgrammingError:
        raise UsageError(
            "the policies in the database cannot be read",
            hint="run `pganon init`, and connect as pganon's owner or as a member of it",
        ) from None
    stored = {row[0]: (row[1], row[2]) for row in rows}
    operations: list[ApplyPolicyOp] = []
    for path in policy_files(Path(folder)):
        loaded = load_policy(path)
        check_files(loaded)
        document, files = portable(loaded)
        before = stored.get(loaded.policy.release)
        if before is None or (policy_hash(loaded.policy), files) != (_hash(before[0]), before[1]):
            operations.append(ApplyPolicyOp(document, files, *(before or ())))
    return operations


def _hash(document: Document) -> str | None:
    """None for a policy that this program does not understand."""
    try:
        return policy_hash(policy_from(document))
    except PolicyError:
        return None
