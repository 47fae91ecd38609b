"""m-invariance (Xiao and Tao 2007) for any method: groups in which signatures stay the same.

    sets         (vset, value_set, key, code)      values of every signature; code NULL: no record
    returned     (.., vset, gone, other)           all records; signature, permanently suppressed
    needed       (vset, key, code, have, groups)   groups of a signature, and records with a value
    newcomers    (.., turn)                        new records without a signature, in random order
    taken        (code, n)                         new records that get the signature of a group
    listed       (.., gid)                         records in groups with an old signature
    counterfeits (gid, v)                          counterfeit values of these groups

`code` numbers vectors: the values of a record in all sensitive columns, in anatomy its one value.
Surviving records are listed by signature and vector. Lists shorter than the longest one of their
signature are filled with new records of that vector, as long as the other new records stay
eligible, then with counterfeits. The lists are ordered along the curve, and the j-th records of
each form a group. All other new records form groups with new signatures, as in a first version.
Where they are not eligible, they are permanently suppressed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from sqlglot import exp

from pganon.encode.people import digest, identity, mark, population_secret
from pganon.encode.records import PLACE
from pganon.encode.work import sensitive_values
from pganon.error_codes import ErrorCode
from pganon.errors import PganonError, PrivacyRefusal
from pganon.forms.elements import of_text_key, of_vector_key, own_value, text_key, vector_key
from pganon.forms.facts import SUPPRESSED
from pganon.identifiers import quote
from pganon.methods.buckets.search.filling import Candidates, filled
from pganon.methods.common.pairs import paired
from pganon.methods.common.suppression import RELEASED, suppression_problem
from pganon.privacy.rows import Relation
from pganon.resolved.invariance import OUT, Signatures
from pganon.resolved.model import ReleaseSpec, Sensitive
from pganon.sqltools import (
    aliased,
    cast,
    chain,
    col,
    computed_once,
    equal,
    fragment,
    named,
    num,
    query,
    stacked,
    text,
)
from pganon.steps import Check, Rows, Search, State, Step, table
from pganon.steps.facts import RECORDS, count
from pganon.steps.tasks import TaskResult


@dataclass(frozen=True)
class InvarianceContext:
    """Records of an m-invariant release.

    Attributes:
        l: new records in new groups must be l-eligible in every sensitive column.
        records: (:attr:`order`, place, :attr:`vector`, :attr:`shown`, s<j>, v<j> and who they are
            of): the encoded records, with their places along the curve.
        order: column with a random order of the records.
        vector: column with a number for the values of the record in all sensitive columns.
        vectors: SELECT (vector, s<j>): all vectors.
        shown: columns that later steps read of records in groups.
        carried: columns that later steps read of new records without a group.
    """

    spec: ReleaseSpec
    l: int  # noqa: E741 (the field's own letter)
    records: Callable[[State], Relation]
    order: str
    vector: str
    vectors: Callable[[State], Relation]
    shown: Sequence[str]
    carried: Sequence[str]

    @property
    def items(self) -> tuple[Sensitive, ...]:
        return self.spec.invariant_items

    @property
    def codes(self) -> list[str]:
        """Work columns with the codes of their values."""
        return [f"s{item.index}" for item in self.items]

    @property
    def signatures(self) -> Signatures:
        signatures = self.spec.signatures
        assert signatures is not None
        return signatures

    @property
    def columns(self) -> list[str]:
        """Columns that are kept of every record, whatever its group."""
        return list(
            dict.fromkeys([self.order, PLACE, self.vector, *self.codes, *self.shown, *self.carried])
        )

    def vector_of(self, table: str) -> exp.Column:
        return col(self.vector, table)

    def keyed(self, state: State) -> exp.Select:
        """SELECT code, key of every vector."""
        tree = query("select 1 from x", {"x": self.vectors(state)})
        keys: list[exp.Expr] = []
        for item in self.items:
            alias = f"d{item.index}"
            on = exp.EQ(this=col("code", alias), expression=col(f"s{item.index}", "x"))
            tree = tree.join(aliased(state.work(sensitive_values(item.index)), alias), on=on)
            keys.append(text_key(col("value", alias)))
        return tree.select(
            named(self.vector_of("x"), "code"), named(vector_key(keys), "key"), append=False
        )


def vectors(spec: ReleaseSpec, records: Relation) -> exp.Select:
    """SELECT vector, s<j>: a number for every combination of codes of the records."""
    codes = [f"s{item.index}" for item in spec.invariant_items]
    each = query("select distinct 1 from r", {"r": records}).select(
        *[col(code, "r") for code in codes], append=False
    )
    order = exp.Order(expressions=[exp.Ordered(this=col(code, "x")) for code in codes])
    numbered = exp.Window(this=exp.func("row_number"), order=order)
    return query("select x.* from x", {"x": each}).select(named(numbered, "vector"))


def with_vectors(spec: ReleaseSpec, records: Relation, numbered: Relation) -> exp.Select:
    """SELECT of the records and their `vector`; `numbered` is the result of :func:`vectors`."""
    codes = [f"s{item.index}" for item in spec.invariant_items]
    return query(
        "select r.*, x.vector from r join x on :same",
        {"r": records, "x": numbered},
        same=equal(codes, "r", "x"),
    )


DEALT = count("dealt")
"""Records that are dealt out to groups with new signatures."""


def others(context: InvarianceContext, state: State) -> exp.Select:
    """SELECT of the columns of these records; no row if they are not eligible."""
    return query(
        "select o.* from o where :dealt > 0",
        {"o": _others(context, state)},
        dealt=num(state[DEALT]),
    )


def _others(context: InvarianceContext, state: State) -> exp.Select:
    return query(
        "select n.* from n join t on t.code = :code and n.turn > t.n",
        {"n": state.work("newcomers"), "t": state.work("taken")},
        code=context.vector_of("n"),
    )


def _counts(context: InvarianceContext, state: State) -> exp.Expr:
    """SELECT one row of dealt, released and suppressed records; eligible in every column."""
    counted = [
        query(
            "select count(*) as n from o group by :code",
            {"o": _others(context, state)},
            code=col(code, "o"),
        )
        for code in context.codes
    ]
    eligible = query(
        "select case when max(c.n) * :l <= t.n then t.n else 0 end as dealt from t"
        " left join c on true group by t.n",
        {
            "c": stacked(counted),
            "t": query("select count(*) as n from o", {"o": _others(context, state)}),
        },
        l=num(context.l),
    )
    kept = query("select count(*) as n from l", {"l": state.work("listed")})
    return query(
        "select e.dealt::bigint as dealt, (k.n + e.dealt)::bigint as released,"
        " (:records - k.n - e.dealt)::bigint as suppressed from e cross join k",
        {"e": eligible, "k": kept},
        records=num(state[RECORDS]),
    )


def _returned(context: InvarianceContext, state: State) -> exp.Expr:
    signatures = context.signatures
    key = identity(context.spec)
    assert key is not None
    secret = population_secret(state)
    values = {f"told{place}": item for place, item in enumerate(context.items)}
    records = query("select 1 from c", {"c": context.records(state)}).select(
        *[col(name, "c") for name in context.columns],
        named(digest(col(key, "c"), secret), "digest"),
        *[named(own_value(item, "c"), name) for name, item in values.items()],
        append=False,
    )
    marks = [f"mark{place}" for place in range(signatures.columns)]
    people = query(
        "select p.person, s.vset, p.value_set = :out as gone from p"
        " left join (select distinct v.vset, v.value_set from v) as s on s.value_set = p.value_set",
        {"p": signatures.people, "v": state.work("sets")},
        out=cast(text(OUT), "uuid"),
    ).select(*[col(name, "p") for name in marks])
    other = [
        fragment(
            ":had is distinct from :has",
            had=col(name, "k"),
            has=mark(col("digest", "r"), col(value, "r"), secret),
        )
        for name, value in zip(marks, values, strict=True)
    ]
    return query(
        "select k.vset, coalesce(k.gone, false) as gone,"
        " case when k.vset is not null then :other else false end as other"
        " from r left join k on k.person = r.digest",
        {"r": computed_once(records), "k": people},
        other=chain(exp.Or, other),
    ).select(*[col(name, "r") for name in context.columns])


def _problem(context: InvarianceContext, row: Mapping[str, Any]) -> PganonError | None:
    if not row["changed"]:
        return None
    names = [quote(item.column.name) for item in context.items]
    columns = f"column {names[0]}" if len(names) == 1 else f"one of the columns {', '.join(names)}"
    return PrivacyRefusal(
        f"{row['changed']} people have another value in {columns} than in the version"
        " before; with refresh: invariant values do not change",
        observed=row["changed"],
        hint="leave these people out with `where`, or restore their values",
        code=ErrorCode.VALUE_CHANGED,
    )


def survivors(state: State) -> exp.Select:
    """SELECT of the rows of `returned` with a signature."""
    return query("select r.* from r where r.vset is not null", {"r": state.work("returned")})


def counted(rows: exp.Select, context: InvarianceContext) -> exp.Select:
    """SELECT vset, code, n: records by signature and vector."""
    return query(
        "select r.vset, :code as code, count(*) as n from r group by 1, 2",
        {"r": rows},
        code=context.vector_of("r"),
    )


def fits(table: str, other: str) -> exp.Expr:
    """Condition: the same vector of the same signature; vectors without a record match nothing."""
    return fragment(f"{table}.vset = {other}.vset and {table}.code = {other}.code")


COUNTERFEITS = "counterfeit_values"


def old_groups(state: State) -> exp.Select:
    """SELECT gid: the groups with old signatures, each once."""
    return query("select distinct l.gid from l", {"l": state.work("listed")})


def counterfeits(state: State) -> exp.Select:
    """SELECT gid, v<j>: a row per counterfeit vector of a group."""
    return query("select c.* from c", {"c": state.work(COUNTERFEITS)})


def _fillers(context: InvarianceContext, state: State) -> exp.Expr:
    """New records and the free places for them, both in the order of the curve.

    Where there are too few new records, the random numbers of the signatures decide which places
    are filled.
    """
    places = query(
        "select avg(s.place) as place, s.vset from s group by s.vset",
        {"s": survivors(state)},
    )
    free = query(
        "select n.vset, n.code, m.place, row_number() over"
        " (partition by n.code order by n.vset, i.number) as turn from n join m on m.vset = n.vset"
        " cross join lateral generate_series(n.have + 1, n.groups) as i(number)",
        {"n": state.work("needed"), "m": places},
    )
    filled = query(
        "select f.vset, f.code,"
        " row_number() over (partition by f.code order by f.place, f.turn) as number"
        " from f join t on t.code = f.code and f.turn <= t.n",
        {"f": free, "t": state.work("taken")},
    )
    new = query(
        "select row_number() over (partition by :code order by n.place) as number from n"
        " join t on t.code = :code and n.turn <= t.n",
        {"n": state.work("newcomers"), "t": state.work("taken")},
        code=context.vector_of("n"),
    ).select(*[col(name, "n") for name in context.columns])
    return query(
        "select f.vset from n join f on f.code = :code and f.number = n.number",
        {"n": new, "f": filled},
        code=context.vector_of("n"),
    ).select(*[col(name, "n") for name in context.columns])


def _people(context: InvarianceContext, state: State) -> exp.Select:
    """Surviving and new records with their signatures."""
    columns = ["vset", *context.columns]
    parts = [survivors(state), query("select f.* from f", {"f": state.work("fillers")})]
    chosen = [
        query("select 1 from p", {"p": part}).select(
            *[col(name, "p") for name in columns], append=False
        )
        for part in parts
    ]
    return stacked(chosen)


def _listed(context: InvarianceContext, state: State) -> exp.Expr:
    listed = query(
        "select p.*, row_number() over (partition by p.vset, :code order by p.place) as number"
        " from p",
        {"p": _people(context, state)},
        code=context.vector_of("p"),
    )
    columns = dict.fromkeys([*context.shown, context.vector])
    return query(
        "select l.vset, :gid as gid from l", {"l": listed}, gid=_gid("l", col("number", "l"))
    ).select(*[col(name, "l") for name in columns])


def _gid(table: str, number: exp.Expr) -> exp.Expr:
    """Numbers below those of new groups, which are not negative."""
    return fragment("-1 - :pair", pair=paired(col("vset", table), number))


def _counterfeits(context: InvarianceContext, state: State) -> exp.Expr:
    items = context.items
    have = counted(query("select l.* from l", {"l": state.work("listed")}), context)
    missing = query(
        "select n.vset, n.key, i.number from n left join h on :same"
        " cross join lateral generate_series(coalesce(h.n, 0) + 1, n.groups) as i(number)",
        {"n": state.work("needed"), "h": have},
        same=fits("n", "h"),
    )
    return query(
        "select :gid as gid from m", {"m": missing}, gid=_gid("m", col("number", "m"))
    ).select(
        *[
            named(
                of_text_key(item, of_vector_key(place, len(items), col("key", "m"))),
                f"v{item.index}",
            )
            for place, item in enumerate(items)
        ]
    )


def _needed(context: InvarianceContext, state: State) -> exp.Expr:
    """A signature has as many groups as surviving records with its most frequent value."""
    each = query(
        "select s.vset, s.key, s.code, coalesce(n.n, 0) as have,"
        " max(coalesce(n.n, 0)) over (partition by s.vset) as groups from s left join n on :same",
        {"s": state.work("sets"), "n": counted(survivors(state), context)},
        same=fits("s", "n"),
    )
    return query("select e.* from e where e.groups > 0", {"e": each})


def _candidates(context: InvarianceContext, state: State) -> exp.Select:
    """SELECT code, count, need, s<j>: new records by vector, and how many of them fit."""
    new = query(
        "select :code as code, count(*) as n from r group by 1",
        {"r": state.work("newcomers")},
        code=context.vector_of("r"),
    ).select(*[named(fragment("min(:c)", c=col(code, "r")), code) for code in context.codes])
    need = query(
        "select n.code, sum(n.groups - n.have)::bigint as n from n where n.code is not null"
        " group by n.code",
        {"n": state.work("needed")},
    )
    return query(
        "select r.code, r.n, coalesce(d.n, 0) as need from r left join d on d.code = r.code"
        " order by r.code",
        {"r": new, "d": need},
    ).select(*[col(code, "r") for code in context.codes])


def _fill(rows: Rows, l: int) -> TaskResult:  # noqa: E741
    candidates = [Candidates(code, tuple(values), n, need) for code, n, need, *values in rows]
    return TaskResult(list(filled(candidates, l).items()))


def invariant_steps(context: InvarianceContext) -> list[Step]:
    """From the encoded records to groups with old signatures, and the other new records."""
    return [
        table(
            "sets",
            "the values of every signature",
            lambda s: query(
                "select (dense_rank() over (order by s.value_set))::int as vset, s.value_set,"
                ' s.value collate "default" as key, d.code from s left join d on d.key = s.value',
                {"s": context.signatures.values, "d": context.keyed(s)},
            ),
        ),
        table(
            "returned",
            "records of people with a signature, and of newcomers",
            lambda s: _returned(context, s),
        ),
        Check(
            "values",
            "whether people have the values that they had",
            lambda s: query(
                "select count(*) filter (where r.other) as changed,"
                " count(*) filter (where r.vset is not null) as survivors from r",
                {"r": s.work("returned")},
            ),
            lambda row, state: _problem(context, row),
            gives=[count("changed"), count("survivors")],
        ),
        table(
            "needed",
            "how many records of every value the groups of a set need",
            lambda s: _needed(context, s),
        ),
        table(
            "newcomers",
            "records of people who were not released yet, in random order",
            lambda s: query(
                "select r.*, row_number() over (partition by :code order by :order) as turn"
                " from r where r.vset is null and not r.gone",
                {"r": s.work("returned")},
                code=context.vector_of("r"),
                order=col(context.order, "r"),
            ),
        ),
        Search(
            "taken",
            "how many newcomers of every value take over a set",
            lambda s: s.work("taken"),
            (("code", "bigint"), ("n", "bigint")),
            rows=lambda s, batch: _candidates(context, s),
            tasks=lambda s, given, rows: [partial(_fill, tuple(rows), context.l)],
        ),
        table(
            "fillers", "newcomers with the set that they take over", lambda s: _fillers(context, s)
        ),
        table(
            "listed",
            "the groups of all people with an old signature",
            lambda s: _listed(context, s),
        ),
        table(
            COUNTERFEITS,
            "values of these groups that nobody has",
            lambda s: _counterfeits(context, s),
        ),
        Check(
            "others",
            "whether the other newcomers are eligible",
            lambda s: _counts(context, s),
            lambda row, state: suppression_problem(context.spec, row, state),
            gives=[DEALT, RELEASED, SUPPRESSED],
        ),
    ]
