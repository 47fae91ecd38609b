"""The policy: what a steward declares about one source and its releases.

Everything that can be checked without a catalog is checked here. Names of columns and roles are
exact, as the catalog has them; `source` is written as in SQL.
"""

from __future__ import annotations

import hashlib
import json
from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from pganon.identifiers import NameProblem, own_schema, parse_name
from pganon.policy import methods
from pganon.policy.consistency import column_refusals, policy_refusals
from pganon.policy.domains import Domain
from pganon.policy.exclusions import Exclusion
from pganon.policy.hierarchies import Declaration, Hierarchy, Labels, no_repeats
from pganon.policy.refusals import (
    known_word,
    refuse,
    refuse_one,
    refuse_word,
    show,
    usable_name,
)
from pganon.policy.words import (
    DISTANCES,
    LATER_METHODS,
    LATER_MODELS,
    LATER_ROLES,
    METHODS,
    MODELS,
    NULLS,
    ROLES,
    TYPES,
    UNPROTECTED,
)
from pganon.spec.expressions import ExpressionProblem, check_where

Role = Literal[
    "identifying",
    "individual",
    "quasi_identifying",
    "quasi_sensitive",
    "sensitive",
    "insensitive",
]
ColumnType = Literal["numeric", "ordinal", "categorical"]
Nulls = Literal["as_value", "own_class", "suppress", "conditional", "reject"]


Name = Annotated[str, AfterValidator(usable_name)]


def _relation_name(text: str) -> str:
    try:
        parse_name(text)
    except NameProblem as problem:
        refuse_one(str(problem) if len(text) <= 200 else "the name is too long")
    return text


RelationName = Annotated[str, AfterValidator(_relation_name)]


def _condition(text: str) -> str:
    try:
        check_where(text)
    except ExpressionProblem as refused:
        refuse_one(refused.problem.message, suggestion=refused.problem.suggestion)
    return text


def _open_schema(name: str) -> str:
    if own_schema(name) is not None:
        refuse_one(
            f'schema "{name}" is not for published views',
            suggestion='choose another schema; the default is "published"',
        )
    return name


def _key(value: object) -> object:
    """One column, or several that only together tell individuals apart."""
    names = list(value) if isinstance(value, list | tuple) else [value]
    if not names or not all(isinstance(name, str) for name in names):
        refuse_one(
            "must be the name of a column, or a list of names",
            suggestion="for example individual: [hospital, patient_no]",
        )
    no_repeats(tuple(names))  # pyright: ignore[reportArgumentType]
    return names[0] if len(names) == 1 else tuple(names)


Key = Annotated[
    str | tuple[str, ...], BeforeValidator(_key, json_schema_input_type=str | list[str])
]


# --- columns ---------------------------------------------------------------------------------


def _one_set(value: object) -> object:
    if isinstance(value, list | tuple):
        refuse_one(
            "a column belongs to exactly one QS set, not to a list of them",
            suggestion="write the name of the one set; the column is in no other",
        )
    return value


class Column(Declaration):
    """What one source column is, and how it may be treated."""

    role: Annotated[Role, known_word("role", ROLES, LATER_ROLES)]
    type: Annotated[ColumnType, known_word("column type", TYPES)] | None = None
    order: Annotated[Labels, AfterValidator(no_repeats)] | None = None
    domain: Domain | None = None
    hierarchy: Hierarchy | None = None
    weight: Annotated[float, Field(gt=0, le=1e6)] = 1.0
    nulls: Annotated[Nulls, known_word("way to treat nulls", NULLS)] = "as_value"
    unprotected: Annotated[
        Literal["warn", "accept"], known_word("word for unprotected", UNPROTECTED)
    ] = "warn"
    qs_set: Annotated[Name | None, BeforeValidator(_one_set)] = Field(default=None, alias="set")
    published_as: Name | None = Field(default=None, alias="as")

    @model_validator(mode="after")
    def _keys_fit_role(self) -> Column:
        refuse(column_refusals(self.model_dump(by_alias=True)))
        return self


# --- privacy models --------------------------------------------------------------------------


class KAnonymity(Declaration):
    """Every class holds at least k records."""

    model: Literal["k_anonymity"]
    k: Annotated[int, Field(ge=2, le=2**31 - 1)]


class AlphaKAnonymity(Declaration):
    """Every class holds at least k records, no value of the column more than alpha of them."""

    model: Literal["alpha_k_anonymity"]
    column: str
    alpha: Annotated[float, Field(gt=0, le=1)]
    k: Annotated[int, Field(ge=2, le=2**31 - 1)]


class DistinctLDiversity(Declaration):
    """Every class holds at least l different values of the column."""

    model: Literal["distinct_l_diversity"]
    column: str
    l: Annotated[int, Field(ge=2, le=2**31 - 1)]  # noqa: E741 (the field's own letter)


class EntropyLDiversity(Declaration):
    """In every class the entropy of the column is at least log(l)."""

    model: Literal["entropy_l_diversity"]
    column: str
    l: Annotated[float, Field(ge=2, le=2**31 - 1)]  # noqa: E741


class RecursiveCLDiversity(Declaration):
    """In every class the most frequent value is rarer than c times the l-th and all rarer ones."""

    model: Literal["recursive_cl_diversity"]
    column: str
    c: Annotated[float, Field(gt=0, le=1e9)]
    l: Annotated[int, Field(ge=2, le=2**31 - 1)]  # noqa: E741


class TCloseness(Declaration):
    """In every class the earth mover's distance of the column to the whole is at most t."""

    model: Literal["t_closeness"]
    column: str
    t: Annotated[float, Field(gt=0, le=1)]
    distance: Annotated[
        Literal["equal", "ordered", "hierarchical"], known_word("distance", DISTANCES)
    ] = "equal"


class BetaLikeness(Declaration):
    """In every class no value's share exceeds that in the whole by more than beta times it."""

    model: Literal["beta_likeness"]
    column: str
    beta: Annotated[float, Field(gt=0, le=1e9)]
    variant: Annotated[
        Literal["basic", "enhanced"], known_word("variant of beta_likeness", ("basic", "enhanced"))
    ] = "enhanced"


class DeltaDisclosure(Declaration):
    """In every class every value's share is within a factor exp(delta) of that in the whole."""

    model: Literal["delta_disclosure"]
    column: str
    delta: Annotated[float, Field(gt=0, le=1e3)]


class QSKAnonymity(Declaration):
    """Every cluster has at least k value combinations in every QS set."""

    model: Literal["qs_k_anonymity"]
    k: Annotated[int, Field(ge=1, le=2**31 - 1)]
    count: Annotated[
        Literal["supported", "product"],
        known_word("way to count combinations", ("supported", "product")),
    ] = "supported"
    min_values: Annotated[int, Field(ge=1, le=2**31 - 1)] = 1
    public: dict[Name, RelationName] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _public_is_counted(self) -> QSKAnonymity:
        if self.public and self.count == "product":
            refuse_one(
                "count: product reads no table; it counts combinations whether they exist or not",
                at=("public",),
                suggestion="remove public, or write count: supported",
            )
        return self


class AnatomyLDiversity(Declaration):
    """In every group at most 1/l of the records have the same value of the column."""

    model: Literal["anatomy_l_diversity"]
    column: str
    l: Annotated[int, Field(ge=2, le=2**31 - 1)]  # noqa: E741
    level: Annotated[
        Literal["attribute", "unique"],
        known_word("level of anatomy_l_diversity", ("attribute", "unique")),
    ] = "attribute"


class SlicingLDiversity(Declaration):
    """In every bucket at most 1/l of the records have the same value.

    Of a sensitive column, of every sensitive column where none is named, or (level: tuple) of the
    values of a sensitive table taken together.
    """

    model: Literal["slicing_l_diversity"]
    column: str | None = None
    l: Annotated[int, Field(ge=2, le=2**31 - 1)]  # noqa: E741
    level: Annotated[
        Literal["attribute", "tuple", "unique"],
        known_word("level of slicing_l_diversity", ("attribute", "tuple", "unique")),
    ] = "attribute"
    min_size: Annotated[int, Field(ge=1, le=2**31 - 1)] = 1

    @model_validator(mode="after")
    def _level_of_tables(self) -> SlicingLDiversity:
        if self.column is not None and self.level == "tuple":
            refuse_one(
                "level: tuple is about whole sensitive tables, not about one column",
                at=("column",),
                suggestion="remove column, or write level: attribute",
            )
        return self


Share = Annotated[float, Field(gt=0, le=1)]


class IRKAnonymity(Declaration):
    """Every class holds at least k individuals."""

    model: Literal["ir_k_anonymity"]
    k: Annotated[int, Field(ge=2, le=2**31 - 1)]


class IRKLAnonymity(Declaration):
    """Every class holds at least k individuals and l different values of the column."""

    model: Literal["ir_kl_anonymity"]
    column: str
    k: Annotated[int, Field(ge=1, le=2**31 - 1)]
    l: Annotated[int, Field(ge=1, le=2**31 - 1)]  # noqa: E741


class IRAlphaBetaAnonymity(Declaration):
    """In every class no individual has more than alpha, no value more than beta of the records."""

    model: Literal["ir_alpha_beta_anonymity"]
    column: str
    alpha: Share
    beta: Share


class EIRLDiversity(Declaration):
    """In every class one record of every individual have at least l values, whichever are taken."""

    model: Literal["eir_l_diversity"]
    column: str
    l: Annotated[int, Field(ge=2, le=1000)]  # noqa: E741


class EIRAlphaBetaAnonymity(Declaration):
    """In every class no individual has more than alpha of the records, and no value is held by more
    than beta of the individuals."""

    model: Literal["eir_alpha_beta_anonymity"]
    column: str
    alpha: Share
    beta: Share


PrivacyModel = (
    KAnonymity
    | AlphaKAnonymity
    | DistinctLDiversity
    | EntropyLDiversity
    | RecursiveCLDiversity
    | TCloseness
    | BetaLikeness
    | DeltaDisclosure
    | QSKAnonymity
    | AnatomyLDiversity
    | SlicingLDiversity
    | IRKAnonymity
    | IRKLAnonymity
    | IRAlphaBetaAnonymity
    | EIRLDiversity
    | EIRAlphaBetaAnonymity
)

MODEL_CLASSES: dict[str, type[Declaration]] = {
    get_args(model.model_fields["model"].annotation)[0]: model for model in get_args(PrivacyModel)
}
"""Every privacy model of this version by its name."""


def _tagged(key: str, what: str, known: tuple[str, ...], later: tuple[str, ...]) -> BeforeValidator:
    """Validator of a mapping that is told apart by the word under `key`."""

    def check(value: object) -> object:
        if isinstance(value, Declaration):
            return value
        if not isinstance(value, dict):
            example = value if isinstance(value, str) and value in known else known[0]
            refuse_one(
                f"must be a mapping, not {show(value)}", suggestion=f"write {{{key}: {example}}}"
            )
            raise AssertionError
        if key not in value:
            refuse_one(
                f"the key {key} is missing", suggestion=f"write {key}: one of {', '.join(known)}"
            )
        refuse_word(what, value[key], known, later, at=(key,))
        return value

    return BeforeValidator(check)


AnyPrivacyModel = Annotated[
    Annotated[PrivacyModel, Field(discriminator="model")],
    _tagged("model", "privacy model", MODELS, LATER_MODELS),
]


# --- method and publication ------------------------------------------------------------------


Method = Annotated[
    Annotated[methods.ANY, Field(discriminator="name")],
    _tagged("name", "method", METHODS, LATER_METHODS),
]


class Publish(Declaration):
    """Where the views go, who may read them, how many versions stay readable."""

    view_schema: Annotated[Name, AfterValidator(_open_schema)] = Field(
        default="published", alias="schema"
    )
    readers: Annotated[tuple[Name, ...], Field(strict=False), AfterValidator(no_repeats)] = ()
    keep: Annotated[int, Field(ge=1, le=10_000)] = 3


Variable = Annotated[str, Field(pattern="^[A-Za-z_][A-Za-z0-9_]*$", max_length=100)]


class Inference(Declaration):
    """How much a reader may infer from sensitive values that are published apart from the records.

    At most `share` of the records may have a sensitive value that naive Bayes, learned from the
    release alone, tells with a probability above `limit`.
    """

    limit: Annotated[float, Field(gt=0, lt=1)] = 0.5
    share: Annotated[float, Field(ge=0, le=1)] = 0.01


# --- the policy ------------------------------------------------------------------------------


class Policy(Declaration):
    """A complete, consistent policy. Column names are in the order in which they were written."""

    variables: Annotated[tuple[Variable, ...], Field(strict=False), AfterValidator(no_repeats)] = ()
    release: Name
    source: RelationName
    where: Annotated[str, Field(max_length=20_000), AfterValidator(_condition)] | None = None
    individual: Key | None = None
    columns: dict[Name, Column]
    privacy: Annotated[tuple[AnyPrivacyModel, ...], Field(strict=False)]
    method: Method
    exclusions: Annotated[tuple[Exclusion, ...], Field(strict=False)] = ()
    inference: Inference | None = None
    suppression_limit: Annotated[float, Field(ge=0, le=1)] = 0.0
    on_infeasible: Annotated[
        Literal["refuse", "suppress"], known_word("word for on_infeasible", ("refuse", "suppress"))
    ] = "refuse"
    republication: Annotated[
        Literal["refuse", "warn", "allow"],
        known_word("word for republication", ("refuse", "warn", "allow")),
    ] = "refuse"
    records_per_individual: Annotated[
        Literal["one", "many_accepted"],
        known_word("word for records_per_individual", ("one", "many_accepted")),
    ] = "one"
    trust: Annotated[tuple[Name, ...], Field(strict=False), AfterValidator(no_repeats)] = ()
    publish: Publish = Publish()

    @model_validator(mode="after")
    def _consistent(self) -> Policy:
        refuse(
            policy_refusals(
                self.columns,
                self.privacy,
                self.individual,
                self.method,
                self.release,
                self.exclusions,
                self.inference,
                self.on_infeasible,
            )
        )
        return self

    def with_role(self, role: Role) -> list[str]:
        """Names of the columns with this role, in the policy's order."""
        return [name for name, column in self.columns.items() if column.role == role]

    @property
    def individual_key(self) -> tuple[str, ...]:
        """The columns that tell individuals apart: `individual`, else the column of that role."""
        if self.individual is None:
            return tuple(self.with_role("individual"))
        return (self.individual,) if isinstance(self.individual, str) else self.individual

    def document(self) -> dict[str, Any]:
        """The policy as plain JSON data with the keys of the file; defaults are left out."""
        return self.model_dump(mode="json", by_alias=True, exclude_defaults=True)


def policy_hash(policy: Policy) -> str:
    """sha256 (hex) of the policy's canonical JSON.

    Writing a default out changes nothing; the order of columns and of labels counts, because
    published columns and hierarchies follow it.
    """
    text = json.dumps(policy.document(), ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
