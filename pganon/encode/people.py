"""People as versions remember them: digests of their keys, and marks of their values.

Both are made in the server, under the secret of the population. A digest is the same in every
version about these people, so that versions can be compared; nobody without the secret can make it
from a key. A mark says whether a person's value is the same as in another version.
"""

from __future__ import annotations

from sqlglot import exp

from pganon.encode.distribution import beside_source
from pganon.encode.secrets import SECRETS
from pganon.identifiers import QualifiedName
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import fragment, num, query, scalar, text
from pganon.steps import State

POPULATION = QualifiedName("pganon_private", "population")
FORGOTTEN = QualifiedName("pganon_private", "forgotten")
"""Table (population, mark) of people who were forgotten."""


def identity(spec: ReleaseSpec) -> str | None:
    """Column of `coded` that identifies the individual: `individual`, or the key of the record."""
    return "individual" if spec.individual else "record" if spec.record_key else None


def owner_columns(spec: ReleaseSpec) -> list[str]:
    """Columns of the snapshot and of `coded` by which people of groups are counted; none where the
    rows stay in shards."""
    if beside_source(spec) is not None or not spec.owners:
        return []
    return ["individual"] if spec.individual else [f"o{n}" for n, _ in enumerate(spec.owners)]


def has_several(spec: ReleaseSpec) -> bool:
    """Whether a person may have several records."""
    return bool(spec.individual) and spec.policy.several_each


def population_secret(state: State) -> exp.Select:
    """SELECT of the secret of the run's population; a run about none uses its own key."""
    return query(
        "select coalesce(p.secret, s.key) from s left join p on p.id = s.population"
        " where s.run_id = :run",
        {"s": SECRETS, "p": POPULATION},
        run=num(state.run_id),
    )


def secret_of(population: int) -> exp.Select:
    """SELECT of the secret of a population."""
    return query("select p.secret from p where p.id = :id", {"p": POPULATION}, id=num(population))


def mark_of_forgotten(person: exp.Expr, population: int) -> exp.Expr:
    """Keyed hash that replaces the digest of a forgotten individual."""
    return person_hash(person, "forgotten", secret_of(population))


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
    """A 64-bit keyed hash from which all marks of a person derive."""
    return person_hash(person, "marks", secret)


def person_hash(person: exp.Expr, purpose: str, secret: exp.Select) -> exp.Expr:
    """A 64-bit keyed hash of a person, given by the digest; another one for every purpose."""
    seed = query(
        "select ('x' || encode(substr(sha256(k.secret || :purpose::bytea), 1, 8), 'hex'))"
        "::bit(64)::bigint from k",
        {"k": query("select :secret as secret", secret=scalar(secret.copy()))},
        purpose=text(purpose),
    )
    return fragment("uuid_hash_extended(:person, :seed)", person=person, seed=scalar(seed))


def mark_from(seed: exp.Expr, value: exp.Expr) -> exp.Expr:
    """The mark of a text, of the person whose :func:`mark_seed` that is."""
    return fragment("hashtextextended(:value, :seed)", value=value, seed=seed)
