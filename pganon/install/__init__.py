"""pganon's own schemas: installing, upgrading and removing them."""

from pganon.install.installer import Outcome, detach, init, uninstall, upgrade

__all__ = ["Outcome", "detach", "init", "uninstall", "upgrade"]
