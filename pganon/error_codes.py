"""Codes of errors: what programs may rely on, with what each means and what to do.

The texts are a contract: they are in JSON, in the ledger, in `pganon.requests` and, as SQLSTATEs,
in errors of the server. `docs/reference/errors.md` lists them; after a change here
`python -m tests.support.harness.codes` writes that page anew.
"""

from __future__ import annotations

from enum import StrEnum, auto
from typing import Any, Self


def _says(meaning: str, remedy: str) -> Any:
    """A code that is the name in small letters."""
    return auto(), meaning, remedy


class ErrorCode(StrEnum):
    """The `code` of an error of pganon, or of a request that went wrong."""

    meaning: str
    remedy: str

    def __new__(cls, text: str, meaning: str, remedy: str) -> Self:
        member = str.__new__(cls, text)
        member._value_ = text
        member.meaning = meaning
        member.remedy = remedy
        return member

    ALIASES = _says(
        "`aliases` does not say without contradiction who is who",
        "give every new key one old key, and no old key twice",
    )
    ALL_SUPPRESSED = _says(
        "all records would be suppressed", "choose another rule for nulls, or weaker requirements"
    )
    APPLIED_ALREADY = _says(
        "a migration beyond the number asked for is applied already",
        "take it back with `pganon migrate down`",
    )
    ASSERTION = _says(
        "the shown version has another policy than asserted, or is older",
        "run the release, or correct the assertion",
    )
    ASSOCIATED = _says(
        "columns that are to be linked independently are associated",
        "give them their buckets in common, or leave one out",
    )
    BAD_DSN = _says(
        "the connection string cannot be read",
        "write postgresql://user@host/database or 'host=... dbname=...'",
    )
    BAD_METHOD = _says(
        "a method that an installed package offers cannot be used", "uninstall or mend the package"
    )
    BAD_NAME = _says(
        "the name of a migration or its release is not one that can be used",
        "rename the file or the release as the message says",
    )
    BAD_PRIORS = _says(
        "the given priors do not fit the source, or are no distributions",
        "correct the relation of priors",
    )
    BAD_SCHEMA = _says(
        "releases cannot be published in that schema", "choose another `publish.schema`"
    )
    BAD_SETTING = _says(
        "the server does not accept the value of a setting",
        "correct the option that the message names",
    )
    BLOCKS_TOO_UNIFORM = _says(
        "records that are similar reach the requirement only in a block that is too large",
        "use the method of the hint, or raise `block_size` and wait longer",
    )
    BUSY = _says(
        "another session works on the same release, run, people or history",
        "try again when it has finished",
    )
    CHANGED = _says(
        "the policy has changed since the request, and only the new one may run", "ask again"
    )
    CHANGED_AFTER_VERIFICATION = _says(
        "tables of a release changed after they were made or verified",
        "run the release again, or choose another version",
    )
    CHANGED_MIGRATION = _says(
        "a migration was changed after it was applied",
        "restore the file, and write a further one for the change",
    )
    CLOSENESS_AFTER_SUPPRESSION = _says(
        "t-closeness is missed against what is published after suppression",
        "weaken the requirement, or use `nulls: as_value`",
    )
    CLUSTER_DIFFERS = _says(
        "another server of the cluster of Citus has another locale, or settings of its own",
        "make databases of one locale, and set the same on all servers",
    )
    CLUSTER_LOGIN = _says(
        "Citus distributes tables over servers to which the role may not log in",
        "give the role LOGIN, and let it connect to all servers of the cluster",
    )
    CLUSTER_PATH = _says(
        "sessions of the role on other servers of Citus would run functions that others made",
        "ALTER ROLE ... SET search_path = pg_catalog, pg_temp",
    )
    CLUSTER_SHARDS = _says(
        "another server of the cluster of Citus would let others read work tables",
        "see the message",
    )
    CONSTANT = _says(
        "a sensitive column has the same value in all records",
        "leave the column out, or accept it with `unprotected: accept`",
    )
    DATABASE = _says("the server refused or failed", "see the message and its SQLSTATE")
    DEPENDENTS = _says(
        "other objects depend on what is to be replaced or dropped",
        "drop them first, and create them anew afterwards",
    )
    DISCLOSED_BY_SUBTRACTION = _says(
        "the distribution of the source would disclose suppressed records",
        "suppress no records, or leave out `publish.reference`",
    )
    EMPTY_SOURCE = _says(
        "the source has no rows that can be released", "fill it, or correct `where`"
    )
    ENCODING = _says(
        "a text has characters that the encoding of the database lacks",
        "write it without them, or use a database with the encoding UTF8",
    )
    ESTIMATE = _says(
        "the query cannot be estimated from the release; the message says where and why",
        "write it as the hint says, or ask the release with plain SQL",
    )
    EVENT_SHARE = _says(
        "no groups of related tables keep the share of people who may have a value",
        "raise `beta`, or declare the column insensitive",
    )
    EXPRESSION = _says(
        "an expression that others wrote, such as of a view, fails on a row",
        "correct the expression that the message names, or leave the records out",
    )
    EXTENSION = _says(
        "pganon in this database is an extension, which the command cannot change",
        "run `pganon extension detach` first",
    )
    EXTENSION_FILES = _says(
        "the server's files of the extension are of another version",
        "install those of `pganon extension build`, or detach the extension",
    )
    FAILED = _says("the run of a request failed", "ask the steward")
    FOREIGN_CODE = _says(
        "a function that pganon did not make raised an error",
        "have its owner correct it; views, triggers and event triggers call functions",
    )
    FOREIGN_OBJECT = _says(
        "pganon's schemas hold an object that pganon did not make",
        "have it dropped, or ask the steward",
    )
    FOREIGN_SCHEMA = _says(
        "the schema is another role's, or is not pganon's",
        "use another schema or database, or trust its owner with `trust`",
    )
    FOREIGN_SERVER = _says(
        "the server of a foreign table cannot be read",
        "see whether it runs, and whether the role has a user mapping",
    )
    FOREIGN_VIEW = _says("a view of pganon's schema is not one that pganon made", "ask the steward")
    FORGOTTEN = _says("people of the version were forgotten meanwhile", "run the release again")
    GAP = _says(
        "a number is missing between the migrations", "restore the missing file, or renumber"
    )
    HIERARCHY = _says(
        "a hierarchy is not a tree, or does not fit its column",
        "correct the hierarchy that the message names",
    )
    IN_TRANSACTION = _says(
        "the connection is inside a transaction",
        "commit or roll back before; `CALL` in autocommit mode",
    )
    IN_USE = _says(
        "views of the release are being read, so they cannot be replaced",
        "try again when the sessions have finished",
    )
    INFEASIBLE = _says(
        "the source cannot reach the required guarantee",
        "use the best reachable parameter that the message names",
    )
    INFERENCE = _says(
        "readers would infer sensitive values more surely than the policy accepts",
        "allow a larger share, or follow the hint",
    )
    INFINITE_VALUES = _says(
        "a column holds NaN or infinity, which no range can show",
        "replace these values in a view, or leave the records out",
    )
    INSTALL = _says(
        "the extension could not be installed or removed", "see the message of the server"
    )
    INTERNAL = _says("a defect of pganon", "report it with the message")
    INTERRUPTED = _says(
        "the keyboard, a signal or a lost connection ended the command",
        "check that the server runs, and run it again",
    )
    KEY_NULL = _says(
        "a key or an individual is NULL", "leave these records out with `where`, or fill the column"
    )
    KEY_REPEATED = _says(
        "rows to import, or of related tables, have the same key",
        "remove repeated rows, or take another key",
    )
    KEYS_CHANGED = _says(
        "hardly anybody of an earlier version is in the source",
        "name changed keys by `aliases`, or write `population: {renewed: true}`",
    )
    LARGE_BLOCK = _says(
        "requirements leave a block of SLAMSA too large", "lower l, or raise `block_size`"
    )
    LEDGER = _says("the ledger or stored releases do not allow the request", "see the message")
    LEFTOVER = _says(
        "schema pganon_data holds relations of releases that the ledger does not know",
        "drop the schema with its views, or rename it",
    )
    LEVELS_NOT_FOUND = _says(
        "the search for levels ended before it found any within the limit; there may be some",
        "raise `max_nodes` of the method, or `suppression_limit`",
    )
    LIMIT = _says(
        "a requester has too many requests, refusals or failures, or asks too soon",
        "wait, or ask the steward",
    )
    LOCK_LOST = _says(
        "the session does not hold its lock any more",
        "connect to the server directly, and run it again",
    )
    LOOKUP_PEOPLE = _says(
        "rows of a table with `people: none` belong to one person each",
        "leave the table out of the policy",
    )
    LOST = _says(
        "another worker was given the request, or it ended",
        "nothing: whoever has it now does the work",
    )
    MEMORY = _says(
        "what is kept about people in groups of a version is missing or changed",
        "restore it from a backup, or forget the version",
    )
    MISSING = _says(
        "pganon is not installed in the database, or not for this role",
        "run `pganon init`, or `pganon upgrade`, as its owner",
    )
    MISSING_MIGRATION = _says(
        "an applied migration is not in the folder", "restore it, or name another history"
    )
    MISSING_ROLE = _says(
        "a reader or trusted role of the policy is not a role of the server",
        "create the role, or correct the policy",
    )
    NAME_TAKEN = _says(
        "an object that pganon did not make has the name of a view",
        "rename or drop it, or choose another `publish.schema`",
    )
    NEWER = _says(
        "pganon in the database is newer than this program",
        "use a program at least as new as the database",
    )
    NO_COLUMNS = _says(
        "the source has no column that can be released",
        "grant SELECT on columns of supported types",
    )
    NO_CREATE = _says(
        "the owner of pganon may not create what it needs", "grant what the hint names"
    )
    NO_CREATEROLE = _says(
        "the login may not create the roles",
        "connect as an administrator, or have one run the SQL of the hint",
    )
    NO_GRANT = _says(
        "roles may not use the schema of the published views",
        "have the owner of the schema grant USAGE to them",
    )
    NO_GROUPS = _says(
        "a bucketized baseline finds no group for enough records",
        "use the method of the hint, or raise `suppression_limit`",
    )
    NO_IDENTITY = _says(
        "the source has no key, so nobody can tell who is who between versions",
        "declare `individual`, or give the table a primary key",
    )
    NO_CRYPTOGRAPHY = _says(
        "signatures of reports need a package that is not installed", "pip install 'pganon[report]'"
    )
    NO_JINJA2 = _says(
        "the page of a report needs a package that is not installed",
        "pip install 'pganon[report]', or write the report as .json",
    )
    NO_SKLEARN = _says(
        "`--classify` needs a package that is not installed", "pip install 'pganon[learn]'"
    )
    NO_METRICS = _says(
        "the form of the release has no metrics to measure on request",
        "leave `--metrics` and `--workload` out",
    )
    NO_MIGRATIONS = _says(
        "the folder does not exist, or has no migrations", "name the folder that has them"
    )
    NO_POPULATION = _says("no people of the release are kept", "nothing is left to do")
    NO_PYARROW = _says(
        "Parquet needs a package that is not installed",
        "pip install 'pganon[parquet]', or export to .csv",
    )
    NO_SERVER = _says(
        "no server is given, and the embedded one does not run",
        "give `--dsn` or PGANON_DSN, or run `pganon server start`",
    )
    ORPHANS = _says(
        "rows of related tables lead to nobody",
        "correct them, or write `orphans: leave_out`",
    )
    READ_REPLICA = _says(
        "the server is a read replica, on which nothing can be written",
        "connect to the primary server",
    )
    REFERENCE = _says(
        "values name no row of the table without people that they reference",
        "correct them, or remove `references` from the column",
    )
    SERVER_ENCODING = _says(
        "the database has the encoding SQL_ASCII, of which nobody knows what its bytes mean",
        "use a database with the encoding UTF8",
    )
    NOBODY_LEFT = _says(
        "every group of the version has somebody who left",
        "drop the release, or see whether keys changed",
    )
    NOT_ALLOWED = _says(
        "the request is not yours to see, end or decide, or releases are withdrawn",
        "use the role that asked or that the policy names",
    )
    NOT_CONFIRMED = _says("the question was not answered with yes", "answer it, or add `--yes`")
    NOT_IN_PARQUET = _says("the release holds a value that Parquet cannot hold", "export to .csv")
    NOT_IN_POPULATION = _says(
        "records of the source are of nobody in the population that a model counts people in",
        "correct the population, or leave them out with `where`",
    )
    NOT_OWNER = _says(
        "pganon in this database belongs to another role",
        "connect as that role, or name it with `--owner`",
    )
    NOT_PRIVATE = _says(
        "a folder of the embedded server is open to others", "choose another PGANON_HOME"
    )
    NOT_SEALED = _says(
        "an imported table would stay open to others",
        "look for an event trigger that grants privileges",
    )
    NOT_STORED = _says(
        "the version is not stored any more, or there is none before",
        "choose another version; `pganon show` lists them",
    )
    NOT_LOOKED_AT = _says(
        "a release that waits was judged again, so its evidence is not what was looked at",
        "look at its report again, and approve with the digest that stands there",
    )
    NOT_WAITING = _says("the request does not wait any more", "see its state in `pganon.requests`")
    NULLS_REJECTED = _says(
        "a column has NULLs, and the policy says `nulls: reject`",
        "fill them, leave them out, or choose another rule",
    )
    OPEN_PRIVILEGES = _says(
        "others hold privileges on what is to be private or published",
        "have them revoked; see whether an event trigger grants them",
    )
    ORDER_GAP = _says("the order of a column lacks values that occur", "add them to `order`")
    OTHER_COLUMNS = _says(
        "increments would have other views or columns than their version",
        "undo the change, or use `refresh: recompute`",
    )
    OTHER_HISTORY = _says(
        "the release belongs to another history of migrations",
        "name that history, or write a file for its folder",
    )
    OTHER_OWNER = _says(
        "pganon in this database belongs to another role than named",
        "name that role, or connect as it",
    )
    OTHER_REFERENCE = _says(
        "newcomers cannot be compared with the first version",
        "undo the change, or use `refresh: recompute`",
    )
    OTHER_REGIONS = _says(
        "regions of the policy are not those of the version that grows",
        "undo the change, or use another name for the release",
    )
    OTHER_RELEASE = _says(
        "a migration is about another release than its name says",
        "rename it, or correct its content",
    )
    OTHER_SOURCE = _says(
        "the release is made from another source", "keep the source, or name the release otherwise"
    )
    OUTDATED = _says("pganon in the database is older than this program", "run `pganon upgrade`")
    OUT_OF_RANGE = _says(
        "a column has numbers that are too large to compute with",
        "leave them out with `where`, or scale the column in a view",
    )
    OUTSIDE_DOMAIN = _says(
        "a column has values outside its declared domain",
        "correct them, leave them out, or widen the domain",
    )
    OWN_SCHEMA = _says("the relation is pganon's own, or reads what is", "name a table of your own")
    PARAMETER = _says(
        "the policy declares no such parameter, or an argument is out of bounds",
        "see the message; the steward knows the policy",
    )
    PARTITIONS = _says(
        "people of the release are in several groups, so leavers cannot be withdrawn",
        "use `leavers: keep`, or a method with one partition",
    )
    POLICY = _says("the policy cannot be used as it is", "correct the problems that are listed")
    POOLER = _says(
        "the pooler lends one session of the server to several clients",
        "connect to the server directly, or let it pool sessions",
    )
    POPULATION = _says(
        "the people of the source cannot be told from those of other releases",
        "follow the hint, usually the same `population` in both policies",
    )
    POPULATION_MOVED = _says(
        "another version about the same people came first", "run the release again"
    )
    PRECONDITION = _says(
        "source, server or catalog are not in the state that is needed", "see the message"
    )
    PUBLISHED_MEANWHILE = _says(
        "a request of the release is being published", "run the command again"
    )
    QI_CONFLICT = _says(
        "records of an individual differ in quasi-identifiers",
        "correct them, or set `qi_conflict: hull`",
    )
    REFUSED = _says(
        "the release does not, or cannot, give the guarantee",
        "see the ledger; requesters ask the steward",
    )
    RELATION = _says(
        "there is no such table or view", "write schema.name; mixed case needs double quotes"
    )
    REPEATABLE = _says(
        "sqitch has no repeatable changes", "give the policy a `schedule`, or use another tool"
    )
    REPLACED_ROLE = _says(
        "a reader or trusted role is another role by now than the one that was named",
        "apply the policy again if it means that one, or correct it",
    )
    REPUBLICATION = _says(
        "versions about the same people would together disclose too much",
        "see [what is refused](../explanation/releases-over-time.md#what-is-refused)",
    )
    REQUEST = _says("a request was refused", "see the message")
    ROLE_DIFFERS = _says(
        "a role of that name is not as pganon would make it",
        "choose another `--prefix`, or drop that role",
    )
    ROLE_HAS_MEMBERS = _says(
        "a role of that name has other members already",
        "revoke it from them, or choose another `--prefix`",
    )
    ROW_SECURITY = _says(
        "row-level security would hide rows of what is read, or the table to replace has it",
        "read as a role with BYPASSRLS; import under another name, or drop its policies first",
    )
    RULE_CONTRADICTED = _says(
        "records contradict an exclusion rule", "correct the records or the rule"
    )
    SAME_PERSON = _says(
        "who asked for a release, or applied its policy, cannot approve it",
        "have a second person decide",
    )
    SEPARATOR = _says(
        "the file has one column, and its name holds another separator",
        "name the separator with `--sep`",
    )
    SERVER_VERSION = _says("the server is older than pganon supports", "use PostgreSQL 14 or later")
    SEVERAL_RECORDS_PER_INDIVIDUAL = _says(
        "individuals have several records where each is taken for one",
        "release one record per individual, or accept it as the hint says",
    )
    SHARED_FACT = _says(
        "rows of related tables lead to several people each",
        "leave a reference out",
    )
    SOURCE_CHANGED = _says(
        "a source or function changed while the run began", "run the release again"
    )
    SOURCE_EMPTY = _says("a materialized view was never filled", "refresh it")
    SOURCE_KIND = _says(
        "the source is not a table or view that other sessions can read",
        "name a table or view, or copy it into one",
    )
    SOURCE_MISSING = _says("there is no such source", "correct the name")
    SOURCE_NAME = _says("the name of the source cannot be read", "write schema.name")
    SOURCE_PRIVILEGE = _says(
        "the role may not read the source", "have its owner grant what the hint names"
    )
    STALE = _says(
        "what was approved is gone, or what it adds to has changed", "run the release again"
    )
    STATEMENT_TIMEOUT = _says(
        "a statement took longer than it may", "allow more with `--statement-timeout`"
    )
    SUPERSEDED = _says(
        "a version that was made later was published first",
        "run the release again if it is to be shown anew",
    )
    SUPERUSER = _says(
        "a superuser, or who can become one, must not run code of the owner", "connect as the owner"
    )
    SUPPRESSION_LIMIT = _says(
        "more records would be suppressed than the policy allows",
        "raise `suppression_limit` to what the hint names, or weaken requirements",
    )
    TABLE_GONE = _says(
        "a table or view of a run was renamed, moved or dropped",
        "see whether an event trigger does that, and run it again",
    )
    TOO_FEW_HOLDERS = _says(
        "too few people have rows in one of the related tables",
        "lower k, or leave the table out",
    )
    TOO_FEW_RECORDS = _says(
        "the source or a cohort has fewer records than a group needs",
        "lower k or l, or wait for more records",
    )
    TOO_MANY_PAIRS = _says(
        "priors by a kernel would compare too many combinations",
        "round values in a view, lower bandwidths, or use `knowledge: {cells: {}}`",
    )
    TWINS = _says(
        "two migrations have one number, or repeat one release",
        "renumber the later one, or keep one of them",
    )
    UNBALANCED = _says("records of a run occur more than once or not at all", "run it again")
    UNCHECKED = _says("the policy of the release cannot be used as it is", "tell the steward")
    UNKNOWN_NUMBER = _says(
        "there is no migration with that number, or it is not applied", "name a number that exists"
    )
    UNKNOWN_POLICY = _says(
        "there is no such policy in the database", "`pganon policy list` lists them"
    )
    UNKNOWN_RELEASE = _says(
        "there is no such release, or not for this role", "`pganon status` lists them"
    )
    UNKNOWN_VERSION = _says("the release has no such version", "`pganon show` lists them")
    UNMATCHED_EXCEPTIONS = _says(
        "rows of an exception relation name no record or column", "correct or remove these rows"
    )
    UNTRUSTED_CODE = _says(
        "reading the source would run code of roles that are not trusted",
        "trust their owners with `trust`, or copy the data",
    )
    USAGE = _says("the command or call cannot be carried out as given", "see the message")
    VALUE_CHANGED = _says(
        "people have other values than in an m-invariant version",
        "leave these people out, or restore their values",
    )
    VALUE_SETS = _says(
        "people would not keep the signature they were released with", "run the release again"
    )
    VERIFICATION = _says(
        "the staged release does not satisfy a requirement", "run it again; report it if it recurs"
    )
    VERSION_EXISTS = _says(
        "another script has the same version", "never change a published version; remove the file"
    )
    WAIT_OVER = _says(
        "the request did not end in the time that a call waits",
        "it stays in the queue; see `pganon.requests`",
    )
    WITHDRAWN = _says(
        "the release was withdrawn, or is by an earlier migration",
        "release it in a further file, or ask the steward",
    )
    WORKER_LOST = _says(
        "three attempts at a request were interrupted", "ask again, or ask the steward"
    )
    WRITABLE = _says(
        "rules would let rows be written through a published view", "drop the rules on that view"
    )


class SqlState(StrEnum):
    """The SQLSTATE of an error that pganon's own SQL raises.

    The first digit is its class: 1 precondition, 2 privacy, 3 ledger, 4 requests. Errors of
    privacy and of the ledger have the code of their class.
    """

    code: ErrorCode
    meaning: str

    def __new__(cls, state: str, code: ErrorCode, meaning: str) -> Self:
        member = str.__new__(cls, state)
        member._value_ = state
        member.code = code
        member.meaning = meaning
        return member

    STILL_READABLE = (
        "PA101",
        ErrorCode.PRECONDITION,
        "`seal`: a relation stays readable to others",
    )
    NOT_A_HEAP = ("PA102", ErrorCode.PRECONDITION, "`stamp`: not a table in a heap")
    OPENED = (
        "PA103",
        ErrorCode.OPEN_PRIVILEGES,
        "`assert_unopened`: others may do more than before and than the policies say",
    )
    NOT_MEASURABLE = ("PA111", ErrorCode.PRECONDITION, "measuring: not a table or view")
    NO_COLUMN = ("PA112", ErrorCode.PRECONDITION, "measuring: no such column")
    NOT_COMPARABLE = (
        "PA113",
        ErrorCode.PRECONDITION,
        "measuring: values of the type cannot be compared, or have no order",
    )
    ARGUMENT = ("PA114", ErrorCode.PRECONDITION, "measuring: a wrong argument")
    NO_RECORDS = ("PA115", ErrorCode.PRECONDITION, "measuring: the relation has no records")
    NO_INDIVIDUAL = ("PA116", ErrorCode.PRECONDITION, "measuring: records without an individual")
    NO_HIERARCHY = ("PA117", ErrorCode.PRECONDITION, "`hierarchical_distance`: not a hierarchy")
    ESTIMATE = ("PA118", ErrorCode.ESTIMATE, "`estimate`: the query has no estimate in SQL")
    OPEN_PRIVILEGES = (
        "PA121",
        ErrorCode.PRECONDITION,
        "installing: privileges of others that the owner cannot revoke",
    )
    ACTOR = ("PA122", ErrorCode.PRECONDITION, "the extension: a superuser, or not the owner")
    PRESENCE = (
        "PA123",
        ErrorCode.PRECONDITION,
        "the extension: pganon is, or is not, in the database without it",
    )
    OTHER_VERSION = (
        "PA124",
        ErrorCode.PRECONDITION,
        "the extension: another version is in the database",
    )
    OBJECTS_DROPPED = (
        "PA125",
        ErrorCode.PRECONDITION,
        "a warning: objects of others that depended on pganon were dropped",
    )
    SEARCH_STOPPED = (
        "PA201",
        ErrorCode.REFUSED,
        "`hitting_set_size`: the exact search was stopped, so EIR l-diversity may hold or not",
    )
    APPEND_ONLY = ("PA301", ErrorCode.LEDGER, "an attempt to change the ledger")
    NO_SECRET = ("PA302", ErrorCode.LEDGER, "`fingerprint`: the secret of the run no longer exists")
    RELATION_MISSING = ("PA303", ErrorCode.LEDGER, "`fingerprint`, `stamp`: a relation is missing")
    NOT_STORED = ("PA304", ErrorCode.LEDGER, "`verify`: no such release with a stored version")
    UNKNOWN_RELEASE = (
        "PA401",
        ErrorCode.UNKNOWN_RELEASE,
        "there is no such release, or you may not ask for it or read it",
    )
    PARAMETER = (
        "PA402",
        ErrorCode.PARAMETER,
        "the policy declares no such parameter, or the value is outside its bounds",
    )
    LIMIT = ("PA403", ErrorCode.LIMIT, "too many requests, or refusals and failures, or too soon")
    UNCHECKED = ("PA404", ErrorCode.UNCHECKED, "the policy cannot be used as it is")
    IN_TRANSACTION = (
        "PA405",
        ErrorCode.IN_TRANSACTION,
        "a `CALL` that waits is inside a transaction: use autocommit mode, or `request_release`",
    )
    WAIT_OVER = ("PA406", ErrorCode.WAIT_OVER, "the request stays in the queue")
    REFUSED = ("PA407", ErrorCode.REFUSED, "the request was refused for privacy")
    FAILED = (
        "PA408",
        ErrorCode.FAILED,
        "the request failed, or was cancelled, rejected, superseded or too late",
    )
    NOT_WAITING = ("PA409", ErrorCode.NOT_WAITING, "the request does not wait any more")
    SAME_PERSON = (
        "PA410",
        ErrorCode.SAME_PERSON,
        "who asked for the release or applied its policy decides about it",
    )
    NOT_ALLOWED = (
        "PA411",
        ErrorCode.NOT_ALLOWED,
        "the release was withdrawn, or the request is not yours, or you decide under another role"
        " than the one that logged in",
    )
    ASSERTION = ("PA412", ErrorCode.ASSERTION, "the version has another policy, or is older")
    NOT_LOOKED_AT = ("PA413", ErrorCode.NOT_LOOKED_AT, "the evidence is not what was looked at")
