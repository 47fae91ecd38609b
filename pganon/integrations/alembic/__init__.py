"""Releases in Alembic's migrations, for Alembic 1.18 and later.

To be imported in `env.py`, which registers the operations `op.apply_policy`, `op.release`,
`op.withdraw_release` and `op.revert_release`, and the plugin `pganon`, which lets autogenerate
compare the policies of a folder with those in the database:

    import pganon.integrations.alembic

    context.configure(
        ...,
        transaction_per_migration=True,
        autogenerate_plugins=["alembic.autogenerate.*", "pganon"],
        pganon_policies="policies",
    )

It is no entry point of Alembic: those are imported amid the import of Alembic, and one that fails
would break Alembic for whoever has pganon installed.
"""

from __future__ import annotations

from alembic.runtime.plugins import Plugin

from pganon.integrations.alembic import autogenerate, operations

PLUGIN = "pganon"

__all__ = ["PLUGIN", "autogenerate", "operations"]

Plugin.setup_plugin_from_module(autogenerate, PLUGIN)
