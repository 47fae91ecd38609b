"""The policy: what a steward declares about one source and its releases.

Everything that can be checked without a catalog is checked here. Names of columns and roles are
exact, as the catalog has them; `source` is written as in SQL.
"""

from __future__ import annotations

import hashlib
import json
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from pganon.identifiers import own_schema
from pganon.policy.columns import ColumnPolicy, Role
from pganon.policy.exclusions import Exclusion
from pganon.policy.hierarchies import Declaration
from pganon.policy.labels import Condition, Name, RelationName, no_repeats, roles_alone
from pganon.policy.options import MethodOptions
from pganon.policy.over_time import OverTime
from pganon.policy.refusals import known_word, refuse, refuse_one
from pganon.policy.registry import ModelDeclaration, Registry
from pganon.policy.reporting import About, Reporting
from pganon.policy.requests import Approval, Day, Expression, Requests, TimeZone
from pganon.policy.rules import Written, policy_refusals
from pganon.policy.tables import Table, root_of
from pganon.policy.words import NOBODY


def _open_schema(name: str) -> str:
    if own_schema(name) is not None:
        refuse_one(
            f'schema "{name}" is not for published views',
            suggestion='choose another schema; the default is "published"',
        )
    return name


def _key(value: object) -> object:
    """One column, or several that identify individuals only together; or that there is none."""
    if value == NOBODY:
        return value
    names = list(value) if isinstance(value, list | tuple) else [value]
    if not names or not all(isinstance(name, str) for name in names):
        refuse_one(
            "must be the name of a column, or a list of names",
            suggestion="for example individual: [hospital, patient_no]",
        )
    no_repeats(tuple(names))  # pyright: ignore[reportArgumentType]
    return names[0] if len(names) == 1 and names[0] != NOBODY else tuple(names)


Key = Annotated[
    str | tuple[str, ...], BeforeValidator(_key, json_schema_input_type=str | list[str])
]


# --- publication ----------------------------------------------------------------------------


class Publish(Declaration):
    """Where the views go, who may read them, how many versions stay readable."""

    view_schema: Annotated[Name, AfterValidator(_open_schema)] = Field(
        default="published", alias="schema"
    )
    readers: Annotated[tuple[Name, ...], Field(strict=False), AfterValidator(no_repeats)] = ()
    keep: Annotated[int, Field(ge=1, le=10_000)] = 3
    reference: bool = False
    labels: bool = False
    approval: Approval | None = None
    review_by: Day | None = None


Variable = Annotated[str, Field(pattern="^[A-Za-z_][A-Za-z0-9_]*$", max_length=100)]


class Inference(Declaration):
    """How much a reader may infer from sensitive values that are published apart from the records.

    At most `share` of the records may have a sensitive value that naive Bayes, learned from the
    release alone, predicts with a probability above `limit`.
    """

    limit: Annotated[float, Field(gt=0, lt=1)] = 0.5
    share: Annotated[float, Field(ge=0, le=1)] = 0.01


# --- the policy ------------------------------------------------------------------------------


class Policy(OverTime):
    """A complete, consistent policy. Column names are in the order in which they were written."""

    # Subclasses know what `privacy` and `method` may be: pganon.policy.policy_class makes them.
    registry: ClassVar[Registry]
    tags: ClassVar = {"privacy": 2, "tables": 2}
    examples: ClassVar = {
        "release": "release: adult",
        "source": "source: public.adult",
        "columns": "columns: {age: {role: quasi_identifying}}",
        "privacy": "privacy: [{model: k_anonymity, k: 5}]",
        "method": "method: {name: one_dimensional}",
    }

    variables: Annotated[tuple[Variable, ...], Field(strict=False), AfterValidator(no_repeats)] = ()
    release: Name
    source: RelationName
    where: Annotated[Condition, Field(max_length=20_000)] | None = None
    individual: Key | None = None
    columns: dict[Name, ColumnPolicy]
    tables: dict[Name, Table] = Field(default_factory=dict)
    group_size: Annotated[int, Field(ge=2, le=2**31 - 1)] | None = None
    privacy: tuple[ModelDeclaration, ...]
    method: MethodOptions
    exclusions: Annotated[tuple[Exclusion, ...], Field(strict=False)] = ()
    inference: Inference | None = None
    suppression_limit: Annotated[float, Field(ge=0, le=1)] = 0.0
    on_infeasible: Annotated[Literal["refuse", "suppress"], known_word()] = "refuse"
    records_per_individual: Annotated[Literal["one", "many_accepted"], known_word()] = "one"
    undeclared: Annotated[Literal["warn", "refuse"], known_word()] = "warn"
    trust: Annotated[tuple[Name, ...], Field(strict=False), AfterValidator(roles_alone)] = ()
    publish: Publish = Publish()
    requests: Requests | None = None
    schedule: Expression | None = None
    time_zone: TimeZone = "UTC"
    about: About | None = None
    report: Reporting = Reporting()

    @model_validator(mode="after")
    def _consistent(self) -> Policy:
        refuse(list(policy_refusals(self.written())))
        return self

    def written(self, **other: object) -> Written:
        """The policy as rules read it, with other values of some keys."""
        keys = {**dict(self), **other}
        return Written(
            self.registry, self.columns, self.privacy, self.method, self.exclusions, keys
        )

    def with_role(self, role: Role) -> list[str]:
        """Names of the columns with this role, in the policy's order."""
        return [name for name, column in self.columns.items() if column.role == role]

    @property
    def individual_key(self) -> tuple[str, ...]:
        """The columns that identify individuals: `individual`, else the column of that role, else
        the key of the population. Empty also if the policy says that there are none."""
        if self.individual == NOBODY:
            return ()
        if self.individual is None:
            key = () if self.population is None else self.population.key
            return tuple(self.with_role("individual")) or key
        return (self.individual,) if isinstance(self.individual, str) else self.individual

    @property
    def root(self) -> str | None:
        """The name of the source, of a policy about related tables."""
        return root_of(self.tables)

    @property
    def several_each(self) -> bool:
        """Whether an individual may have several records."""
        accepted = self.records_per_individual == "many_accepted"
        return accepted or self.method.encoding.reserves_identity

    def document(self) -> dict[str, Any]:
        """The policy as plain JSON data with the keys of the file; defaults are left out.

        One with tables says what its root says in both places.
        """
        return self.model_dump(mode="json", by_alias=True, exclude_defaults=True)


def policy_hash(policy: Policy) -> str:
    """sha256 (hex) of the policy's canonical JSON.

    Writing a default out changes nothing; the order of columns and of labels counts, because
    published columns and hierarchies follow it.
    """
    text = json.dumps(policy.document(), ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
