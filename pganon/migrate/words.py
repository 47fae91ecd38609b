"""Words of the options of `pganon migrate`; apart, because the command line needs them for help."""

from __future__ import annotations

from enum import StrEnum

DEFAULT_HISTORY = "default"
"""Name of the history of a folder that is given none."""


class Tool(StrEnum):
    """Tools that `--emit` writes files for."""

    FLYWAY = "flyway"
    LIQUIBASE = "liquibase"
    SQITCH = "sqitch"
    SQL = "sql"
