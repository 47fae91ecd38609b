"""People as versions remember them: digests of their keys, and marks of their values.

Both are made in the server, under the secret of the population. A digest is the same in every
version about these people, so that versions can be compared; nobody without the secret can make it
from a key. A mark says whether a person's value is the same as in another version.
"""

from __future__ import annotations

from sqlglot import exp

from pganon.encode.secrets import SECRETS
from pganon.identifiers import QualifiedName
from pganon.spec.model import ReleaseSpec
from pganon.sqltools import col, fragment, num, query, scalar
from pganon.steps import State

POPULATION = QualifiedName("pganon_private", "population")


def identity(spec: ReleaseSpec) -> str | None:
    """Column of `coded` that tells whose a record is: the individual, or the key of the record."""
    return "individual" if spec.individual else "record" if spec.record_key else None


def has_several(spec: ReleaseSpec) -> bool:
    """Whether a person may have several records."""
    policy = spec.policy
    many = policy.records_per_individual == "many_accepted" or policy.method.reserves_identity
    return bool(spec.individual) and many


def population_secret(state: State) -> exp.Select:
    """SELECT of the secret of the run's population; a run about none uses its own key."""
    return query(
        "select coalesce(p.secret, s.key) from s left join p on p.id = s.population"
        " where s.run_id = :run",
        {"s": SECRETS, "p": POPULATION},
        run=num(state.run_id),
    )


def digest(key: exp.Expr, secret: exp.Select) -> exp.Expr:
    """16 bytes of sha256 of the secret and the text of a key, as uuid."""
    return fragment(
        "encode(substr(sha256(:secret || convert_to(:key, 'UTF8')), 1, 16), 'hex')::uuid",
        secret=scalar(secret.copy()),
        key=key,
    )


def mark(person: exp.Expr, value: exp.Expr, secret: exp.Select) -> exp.Expr:
    """A 64-bit keyed hash of a person, given by the digest, and a text."""
    return mark_from(mark_seed(person, secret), value)


def mark_seed(person: exp.Expr, secret: exp.Select) -> exp.Expr:
    """What all marks of a person are made from."""
    seed = query(
        "select ('x' || encode(substr(sha256(k.secret || 'marks'::bytea), 1, 8), 'hex'))"
        "::bit(64)::bigint from k",
        {"k": query("select :secret as secret", secret=scalar(secret.copy()))},
    )
    return fragment("uuid_hash_extended(:person, :seed)", person=person, seed=scalar(seed))


def mark_from(seed: exp.Expr, value: exp.Expr) -> exp.Expr:
    """The mark of a text, of the person whose :func:`mark_seed` that is."""
    return fragment("hashtextextended(:value, :seed)", value=value, seed=seed)


def mark_column(number: int) -> str:
    """Where the memory of a population has the marks of the column with this number, from 1."""
    return f"mark{number}"


def remembered_mark(table: str, number: int, *, apart: bool) -> exp.Expr:
    """The mark of a column.

    Args:
        apart: whether columns have marks apart; if not, `marks` has those of all.
    """
    return col(mark_column(number), table) if apart else fragment(f"{table}.marks[{number}]")
