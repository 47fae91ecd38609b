"""Codes of errors: what programs may rely on.

The texts are a contract: they are in JSON, in the ledger, in `pganon.requests` and, as SQLSTATEs,
in errors of the server. `docs/reference/errors.md` says what each means and what to do.
"""

from __future__ import annotations

from enum import StrEnum, auto
from typing import Self


class ErrorCode(StrEnum):
    """The `code` of an error of pganon, or of a request that went wrong."""

    ALIASES = auto()
    ALL_SUPPRESSED = auto()
    APPLIED_ALREADY = auto()
    ASSERTION = auto()
    ASSOCIATED = auto()
    BAD_DSN = auto()
    BAD_METHOD = auto()
    BAD_NAME = auto()
    BAD_PRIORS = auto()
    BAD_SCHEMA = auto()
    BAD_SETTING = auto()
    BLOCKS_TOO_UNIFORM = auto()
    BUSY = auto()
    CHANGED = auto()
    CHANGED_AFTER_VERIFICATION = auto()
    CHANGED_MIGRATION = auto()
    CLOSENESS_AFTER_SUPPRESSION = auto()
    CLUSTER_DIFFERS = auto()
    CLUSTER_LOGIN = auto()
    CLUSTER_PATH = auto()
    CLUSTER_SHARDS = auto()
    CONSTANT = auto()
    DATABASE = auto()
    DEPENDENTS = auto()
    DISCLOSED_BY_SUBTRACTION = auto()
    EMPTY_SOURCE = auto()
    ENCODING = auto()
    ESTIMATE = auto()
    EVENT_SHARE = auto()
    EXPRESSION = auto()
    EXTENSION = auto()
    EXTENSION_FILES = auto()
    FAILED = auto()
    FOREIGN_CODE = auto()
    FOREIGN_OBJECT = auto()
    FOREIGN_SCHEMA = auto()
    FOREIGN_SERVER = auto()
    FOREIGN_VIEW = auto()
    FORGOTTEN = auto()
    GAP = auto()
    HIERARCHY = auto()
    IN_TRANSACTION = auto()
    IN_USE = auto()
    INFEASIBLE = auto()
    INFERENCE = auto()
    INFINITE_VALUES = auto()
    INSTALL = auto()
    INTERNAL = auto()
    INTERRUPTED = auto()
    KEY_NULL = auto()
    KEY_REPEATED = auto()
    KEYS_CHANGED = auto()
    LARGE_BLOCK = auto()
    LEDGER = auto()
    LEFTOVER = auto()
    LEVELS_NOT_FOUND = auto()
    LIMIT = auto()
    LOCK_LOST = auto()
    LOOKUP_PEOPLE = auto()
    LOST = auto()
    MEMORY = auto()
    MISSING = auto()
    MISSING_MIGRATION = auto()
    MISSING_ROLE = auto()
    NAME_TAKEN = auto()
    NEWER = auto()
    NO_COLUMNS = auto()
    NO_CREATE = auto()
    NO_CREATEROLE = auto()
    NO_GRANT = auto()
    NO_GROUPS = auto()
    NO_IDENTITY = auto()
    NO_CRYPTOGRAPHY = auto()
    NO_JINJA2 = auto()
    NO_SKLEARN = auto()
    NO_METRICS = auto()
    NO_MIGRATIONS = auto()
    NO_POPULATION = auto()
    NO_PYARROW = auto()
    NO_SERVER = auto()
    ORPHANS = auto()
    READ_REPLICA = auto()
    REFERENCE = auto()
    SERVER_ENCODING = auto()
    NOBODY_LEFT = auto()
    NOT_ALLOWED = auto()
    NOT_CONFIRMED = auto()
    NOT_IN_PARQUET = auto()
    NOT_IN_POPULATION = auto()
    NOT_OWNER = auto()
    NOT_PRIVATE = auto()
    NOT_SEALED = auto()
    NOT_STORED = auto()
    NOT_LOOKED_AT = auto()
    NOT_WAITING = auto()
    NULLS_REJECTED = auto()
    OPEN_PRIVILEGES = auto()
    ORDER_GAP = auto()
    OTHER_COLUMNS = auto()
    OTHER_HISTORY = auto()
    OTHER_OWNER = auto()
    OTHER_REFERENCE = auto()
    OTHER_REGIONS = auto()
    OTHER_RELEASE = auto()
    OTHER_SOURCE = auto()
    OUTDATED = auto()
    OUT_OF_RANGE = auto()
    OUTSIDE_DOMAIN = auto()
    OWN_SCHEMA = auto()
    PARAMETER = auto()
    PARTITIONS = auto()
    POLICY = auto()
    POOLER = auto()
    POPULATION = auto()
    POPULATION_MOVED = auto()
    PRECONDITION = auto()
    PUBLISHED_MEANWHILE = auto()
    QI_CONFLICT = auto()
    REFUSED = auto()
    RELATION = auto()
    REPEATABLE = auto()
    REPLACED_ROLE = auto()
    REPUBLICATION = auto()
    REQUEST = auto()
    ROLE_DIFFERS = auto()
    ROLE_HAS_MEMBERS = auto()
    ROW_SECURITY = auto()
    RULE_CONTRADICTED = auto()
    SAME_PERSON = auto()
    SEPARATOR = auto()
    SERVER_VERSION = auto()
    SEVERAL_RECORDS_PER_INDIVIDUAL = auto()
    SHARED_FACT = auto()
    SOURCE_CHANGED = auto()
    SOURCE_EMPTY = auto()
    SOURCE_KIND = auto()
    SOURCE_MISSING = auto()
    SOURCE_NAME = auto()
    SOURCE_PRIVILEGE = auto()
    STALE = auto()
    STATEMENT_TIMEOUT = auto()
    SUPERSEDED = auto()
    SUPERUSER = auto()
    SUPPRESSION_LIMIT = auto()
    TABLE_GONE = auto()
    TOO_FEW_HOLDERS = auto()
    TOO_FEW_RECORDS = auto()
    TOO_MANY_PAIRS = auto()
    TWINS = auto()
    UNBALANCED = auto()
    UNCHECKED = auto()
    UNKNOWN_NUMBER = auto()
    UNKNOWN_POLICY = auto()
    UNKNOWN_RELEASE = auto()
    UNKNOWN_VERSION = auto()
    UNMATCHED_EXCEPTIONS = auto()
    UNTRUSTED_CODE = auto()
    USAGE = auto()
    VALUE_CHANGED = auto()
    VALUE_SETS = auto()
    VERIFICATION = auto()
    VERSION_EXISTS = auto()
    WAIT_OVER = auto()
    WITHDRAWN = auto()
    WORKER_LOST = auto()
    WRITABLE = auto()


class SqlState(StrEnum):
    """The SQLSTATE of an error that pganon's own SQL raises.

    The first digit is its class: 1 precondition, 2 privacy, 3 ledger, 4 requests. Errors of
    privacy and of the ledger have the code of their class.
    """

    code: ErrorCode

    def __new__(cls, state: str, code: ErrorCode) -> Self:
        member = str.__new__(cls, state)
        member._value_ = state
        member.code = code
        return member

    STILL_READABLE = "PA101", ErrorCode.PRECONDITION
    NOT_A_HEAP = "PA102", ErrorCode.PRECONDITION
    OPENED = "PA103", ErrorCode.OPEN_PRIVILEGES
    NOT_MEASURABLE = "PA111", ErrorCode.PRECONDITION
    NO_COLUMN = "PA112", ErrorCode.PRECONDITION
    NOT_COMPARABLE = "PA113", ErrorCode.PRECONDITION
    ARGUMENT = "PA114", ErrorCode.PRECONDITION
    NO_RECORDS = "PA115", ErrorCode.PRECONDITION
    NO_INDIVIDUAL = "PA116", ErrorCode.PRECONDITION
    NO_HIERARCHY = "PA117", ErrorCode.PRECONDITION
    ESTIMATE = "PA118", ErrorCode.ESTIMATE
    OPEN_PRIVILEGES = "PA121", ErrorCode.PRECONDITION
    ACTOR = "PA122", ErrorCode.PRECONDITION
    PRESENCE = "PA123", ErrorCode.PRECONDITION
    OTHER_VERSION = "PA124", ErrorCode.PRECONDITION
    OBJECTS_DROPPED = "PA125", ErrorCode.PRECONDITION
    SEARCH_STOPPED = "PA201", ErrorCode.REFUSED
    APPEND_ONLY = "PA301", ErrorCode.LEDGER
    NO_SECRET = "PA302", ErrorCode.LEDGER
    RELATION_MISSING = "PA303", ErrorCode.LEDGER
    NOT_STORED = "PA304", ErrorCode.LEDGER
    UNKNOWN_RELEASE = "PA401", ErrorCode.UNKNOWN_RELEASE
    PARAMETER = "PA402", ErrorCode.PARAMETER
    LIMIT = "PA403", ErrorCode.LIMIT
    UNCHECKED = "PA404", ErrorCode.UNCHECKED
    IN_TRANSACTION = "PA405", ErrorCode.IN_TRANSACTION
    WAIT_OVER = "PA406", ErrorCode.WAIT_OVER
    REFUSED = "PA407", ErrorCode.REFUSED
    FAILED = "PA408", ErrorCode.FAILED
    NOT_WAITING = "PA409", ErrorCode.NOT_WAITING
    SAME_PERSON = "PA410", ErrorCode.SAME_PERSON
    NOT_ALLOWED = "PA411", ErrorCode.NOT_ALLOWED
    ASSERTION = "PA412", ErrorCode.ASSERTION
    NOT_LOOKED_AT = "PA413", ErrorCode.NOT_LOOKED_AT
