"""pganon's own schemas: installing, upgrading and removing them."""

from pganon.install.installer import Outcome, init, uninstall, upgrade

__all__ = ["Outcome", "init", "uninstall", "upgrade"]
