"""The policy: what a steward declares about one source and its releases.

Everything that can be checked without a catalog is checked here. Names of columns and roles are
exact, as the catalog has them; `source` is written as in SQL.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from pganon.identifiers import NameProblem, parse_name
from pganon.policy.hierarchies import Declaration, Hierarchy, Labels, no_repeats
from pganon.policy.refusals import (
    Refusal,
    nearest,
    refuse,
    refuse_one,
    refuse_word,
    show,
    usable_name,
)
from pganon.spec.expressions import ExpressionProblem, check_where

Role = Literal["identifying", "individual", "quasi_identifying", "sensitive", "insensitive"]
ColumnType = Literal["numeric", "ordinal", "categorical"]
Nulls = Literal["as_value", "own_class", "suppress", "reject"]

ROLES = ("identifying", "individual", "quasi_identifying", "sensitive", "insensitive")
LATER_ROLES = ("quasi_sensitive", "semi_sensitive")
TYPES = ("numeric", "ordinal", "categorical")
NULLS = ("as_value", "own_class", "suppress", "reject")
SENSITIVE_NULLS = ("as_value", "reject")
MODELS = ("k_anonymity", "distinct_l_diversity", "entropy_l_diversity", "t_closeness")
LATER_MODELS = (
    "alpha_k_anonymity",
    "recursive_cl_diversity",
    "beta_likeness",
    "delta_disclosure",
    "ir_k_anonymity",
    "ir_kl_anonymity",
    "ir_alpha_beta_anonymity",
    "eir_l_diversity",
    "eir_alpha_beta_anonymity",
    "qs_k_anonymity",
    "anatomy_l_diversity",
    "slicing_l_diversity",
    "local_bucket_diversity",
    "background_knowledge",
)
METHODS = ("mondrian",)
LATER_METHODS = (
    "full_domain",
    "danonyir",
    "geneir",
    "lgb_mdp",
    "lgb_ncp",
    "local_generalization",
    "local_bucketization",
    "kinc",
    "kagg",
    "beta_primacy",
    "js_reduce",
    "kinc_mic",
    "kagg_mic",
    "qs_greedy",
    "qs_efficient",
    "anatomy",
    "slicing",
    "slamsa",
    "msb",
    "sloms",
)
RESERVED_SCHEMAS = (
    "information_schema",
    "pganon",
    "pganon_private",
    "pganon_work",
    "pganon_stage",
    "pganon_data",
)


def _word(what: str, known: tuple[str, ...], later: tuple[str, ...] = ()) -> BeforeValidator:
    """Validator that answers unknown words with the nearest known one."""

    def check(value: object) -> object:
        refuse_word(what, value, known, later)
        return value

    return BeforeValidator(check)


Name = Annotated[str, AfterValidator(usable_name)]


def _source_name(text: str) -> str:
    try:
        parse_name(text)
    except NameProblem as problem:
        refuse_one(str(problem) if len(text) <= 200 else "the name is too long")
    return text


def _condition(text: str) -> str:
    try:
        check_where(text)
    except ExpressionProblem as refused:
        refuse_one(refused.problem.message, suggestion=refused.problem.suggestion)
    return text


def _open_schema(name: str) -> str:
    if name in RESERVED_SCHEMAS or name.startswith("pg_"):
        refuse_one(
            f'schema "{name}" is not for published views',
            suggestion='choose another schema; the default is "published"',
        )
    return name


# --- columns ---------------------------------------------------------------------------------


class Column(Declaration):
    """What one source column is, and how it may be treated."""

    role: Annotated[Role, _word("role", ROLES, LATER_ROLES)]
    type: Annotated[ColumnType, _word("column type", TYPES)] | None = None
    order: Annotated[Labels, AfterValidator(no_repeats)] | None = None
    hierarchy: Hierarchy | None = None
    weight: Annotated[float, Field(gt=0, le=1e6)] = 1.0
    nulls: Annotated[Nulls, _word("way to treat nulls", NULLS)] = "as_value"
    published_as: Name | None = Field(default=None, alias="as")

    @model_validator(mode="after")
    def _keys_fit_role(self) -> Column:
        refuse(column_refusals(self.model_dump(by_alias=True)))
        return self


def column_refusals(column: Mapping[str, Any]) -> list[Refusal]:
    """What does not go together in one column; works on unchecked input too."""
    role = column.get("role")
    if role not in ROLES:
        return []
    out: list[Refusal] = []
    if role != "quasi_identifying":
        for key, default in (("hierarchy", None), ("weight", 1)):
            if column.get(key, default) not in (default, None):
                out.append(_only_for(key, "quasi_identifying", role))
    nulls = column.get("nulls", "as_value")
    if role == "sensitive" and nulls in NULLS and nulls not in SENSITIVE_NULLS:
        words = " or ".join(SENSITIVE_NULLS)
        out.append(Refusal(("nulls",), f"nulls of a sensitive column are {words}, not {nulls}"))
    if role not in ("quasi_identifying", "sensitive"):
        both = "quasi_identifying or sensitive"
        for key, default in (("nulls", "as_value"), ("type", None), ("order", None)):
            if column.get(key, default) not in (default, None):
                out.append(_only_for(key, both, role))
    elif column.get("order") is not None and role == "sensitive":
        # Distances take the natural order; an order that nothing obeys would mislead.
        message = "an order of one's own is not available for sensitive columns in this version"
        out.append(Refusal(("order",), message, "use the natural order of a number, date or enum"))
    elif column.get("order") is not None and column.get("type") != "ordinal":
        out.append(Refusal(("order",), "order needs type: ordinal", "add type: ordinal"))
    if role == "identifying" and column.get("as") is not None:
        out.append(Refusal(("as",), "an identifying column is never published", "remove as"))
    return out


def _only_for(key: str, roles: str, role: str) -> Refusal:
    return Refusal((key,), f"{key} is for {roles} columns; this one is {role}", f"remove {key}")


# --- privacy models --------------------------------------------------------------------------


class KAnonymity(Declaration):
    """Every class holds at least k records."""

    model: Literal["k_anonymity"]
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


class TCloseness(Declaration):
    """In every class the earth mover's distance of the column to the whole is at most t."""

    model: Literal["t_closeness"]
    column: str
    t: Annotated[float, Field(gt=0, le=1)]
    distance: Annotated[
        Literal["equal", "ordered"], _word("distance", ("equal", "ordered"), ("hierarchical",))
    ] = "equal"


PrivacyModel = KAnonymity | DistinctLDiversity | EntropyLDiversity | TCloseness


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


class Mondrian(Declaration):
    """Top-down multidimensional partitioning."""

    name: Literal["mondrian"]
    variant: Annotated[
        Literal["strict", "relaxed"], _word("variant of mondrian", ("strict", "relaxed"))
    ] = "strict"
    choose: Annotated[
        Literal["width", "loss"], _word("way to choose a column", ("width", "loss"))
    ] = "width"


Method = Annotated[Mondrian, _tagged("name", "method", METHODS, LATER_METHODS)]


class Publish(Declaration):
    """Where the views go, who may read them, how many versions stay readable."""

    view_schema: Annotated[Name, AfterValidator(_open_schema)] = Field(
        default="published", alias="schema"
    )
    readers: Annotated[tuple[Name, ...], Field(strict=False), AfterValidator(no_repeats)] = ()
    keep: Annotated[int, Field(ge=1, le=10_000)] = 3


# --- the policy ------------------------------------------------------------------------------


class Policy(Declaration):
    """A complete, consistent policy. Column names are in the order in which they were written."""

    release: Name
    source: Annotated[str, AfterValidator(_source_name)]
    where: Annotated[str, Field(max_length=20_000), AfterValidator(_condition)] | None = None
    individual: str | None = None
    columns: dict[Name, Column]
    privacy: Annotated[tuple[AnyPrivacyModel, ...], Field(strict=False)]
    method: Method
    suppression_limit: Annotated[float, Field(ge=0, le=1)] = 0.0
    on_infeasible: Annotated[
        Literal["refuse", "suppress"], _word("word for on_infeasible", ("refuse", "suppress"))
    ] = "refuse"
    republication: Annotated[
        Literal["refuse", "warn", "allow"],
        _word("word for republication", ("refuse", "warn", "allow")),
    ] = "refuse"
    records_per_individual: Annotated[
        Literal["one", "many_accepted"],
        _word("word for records_per_individual", ("one", "many_accepted")),
    ] = "one"
    publish: Publish = Publish()

    @model_validator(mode="after")
    def _consistent(self) -> Policy:
        refuse(policy_refusals(self.columns, self.privacy, self.individual))
        return self

    def with_role(self, role: Role) -> list[str]:
        """Names of the columns with this role, in the policy's order."""
        return [name for name, column in self.columns.items() if column.role == role]

    @property
    def individual_column(self) -> str | None:
        """The column that tells individuals apart: `individual`, else the column of that role."""
        return self.individual or next(iter(self.with_role("individual")), None)

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


def policy_refusals(
    columns: Mapping[str, Column | None], privacy: Iterable[Any], individual: object
) -> list[Refusal]:
    """What does not go together across the policy.

    A column that is None, and an element of `privacy` that is None, is declared but wrong in
    itself; nothing is concluded from it.
    """
    out: list[Refusal] = []
    roles = {name: column.role if column else None for name, column in columns.items()}
    if None not in roles.values() and "quasi_identifying" not in roles.values():
        out.append(
            Refusal(
                ("columns",),
                "no column has the role quasi_identifying",
                "declare the columns that others could know about a person",
            )
        )
    models = list(privacy)
    if not models:
        out.append(
            Refusal(("privacy",), "privacy is empty", "write at least {model: k_anonymity, k: 5}")
        )
    out += _model_refusals(models, columns)
    out += _individual_refusals(roles, individual)
    return out


def _model_refusals(
    models: Iterable[Any], columns: Mapping[str, Column | None]
) -> Iterable[Refusal]:
    seen: set[tuple[str, str | None]] = set()
    for i, model in enumerate(models):
        if model is None:
            continue
        name: str | None = getattr(model, "column", None)
        if (model.model, name) in seen:
            of = f' for column "{name}"' if name is not None else ""
            yield Refusal(("privacy", i), f"{model.model}{of} is required twice", "keep one")
        seen.add((model.model, name))
        if name is not None:
            yield from _sensitive_refusals(i, name, columns)
            yield from _order_refusals(i, model, columns.get(name))


def _sensitive_refusals(
    i: int, name: str, columns: Mapping[str, Column | None]
) -> Iterable[Refusal]:
    at = ("privacy", i, "column")
    if name not in columns:
        message = f"column {show(name)} is not declared under columns"
        yield Refusal(at, message, nearest(name, columns))
        return
    column = columns[name]
    if column is not None and column.role != "sensitive":
        yield Refusal(
            at,
            f"column {show(name)} has the role {column.role}; the model needs a sensitive one",
            f'set role: sensitive on column "{name}", or name another column',
        )


def _order_refusals(i: int, model: Any, column: Column | None) -> Iterable[Refusal]:
    if getattr(model, "distance", None) == "ordered" and column and column.type == "categorical":
        yield Refusal(
            ("privacy", i, "distance"),
            f"distance: ordered needs ordered values; column {show(model.column)} is categorical",
            "use distance: equal, or leave type out if the values are numbers, dates or an enum",
        )


def _individual_refusals(roles: Mapping[str, str | None], individual: object) -> Iterable[Refusal]:
    declared = [name for name, role in roles.items() if role == "individual"]
    for name in declared[1:]:
        yield Refusal(
            ("columns", name, "role"),
            f"only one column can have the role individual; {show(declared[0])} has it already",
        )
    if not isinstance(individual, str):
        return
    if individual not in roles:
        yield Refusal(
            ("individual",),
            f"column {show(individual)} is not declared under columns",
            nearest(individual, roles),
        )
    elif roles[individual] not in (None, "identifying", "individual"):
        yield Refusal(
            ("individual",),
            f"column {show(individual)} has the role {roles[individual]}; "
            "individual names a column of role identifying or individual",
        )
    elif declared and individual not in declared:
        yield Refusal(
            ("individual",),
            f"names {show(individual)}, but {show(declared[0])} has the role individual",
            "remove one of the two",
        )
