"""Reconstruction error: answers to questions from the published relations, against the source.

mquestions   (question, r, item, code, a<p>, weight)   how are the records with this code of the
             sensitive column `item` distributed over the values of the r quasi-identifiers a0, a1,
             .. (-1: none)? `weight` says how often the question was drawn, from a fixed seed.
mactual      (question, key<p>, n)         records by the codes of a<p> (-1: none)
mestimated   (question, a<p>, key<p>, n)   the same as estimated
mexisting    (a<p>, key<p>)                cells of the source
mdivergence  (question, r, weight, kl)     of the actual from the estimated distribution; NULL
             where it is infinite
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from pganon.encode.curve import numbered
from pganon.encode.work import sensitive_values
from pganon.forms.shape import linking
from pganon.identifiers import QualifiedName
from pganon.metrics.draws import chosen, hashed
from pganon.metrics.keys import NONE, Cells, asked, in_places, keys, summed
from pganon.metrics.parts import Part, Parts, PartsOf, beside, values
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import col, conjunction, equal, fragment, named, num, query, stacked
from pganon.steps import Check, State, Step, table
from pganon.steps.facts import Fact, count, measure, or_null

DRAWN = 100
"""Questions per number of quasi-identifiers."""

LEAST = 3
"""Fewest records of the source with a value that questions are about."""

MOST = 4
"""The most quasi-identifiers of a question."""

SEED = 1


def numbers(spec: ReleaseSpec) -> range:
    """Numbers of quasi-identifiers that a question may have."""
    return range(1, min(MOST, len(spec.attributes)) + 1)


def questions(spec: ReleaseSpec, state: State) -> exp.Expr:
    """SELECT of all questions, with their weights."""
    drawn = stacked([_drawn(spec, state, r) for r in numbers(spec)])
    columns = [col(name, "d") for name in ("r", "item", "code", *asked(MOST))]
    tree = query("select count(*) as weight from d", {"d": drawn}).select(*columns)
    tree = tree.group_by(*[column.copy() for column in columns])
    return tree.select(named(numbered(columns), "question"))


def _drawn(spec: ReleaseSpec, state: State, r: int) -> exp.Select:
    """SELECT of questions: a column, one of its values, r quasi-identifiers; equally likely."""
    values = _values(spec, state)
    items = query(
        "select v.item, max(v.many) as many, row_number() over (order by v.item) as place,"
        " count(*) over () as items from v group by v.item",
        {"v": values},
    )
    seed, drawn = SEED + r, exp.column("q", "g")
    places = query(
        "select g.q as query, i.item, 1 + abs(:value % i.many) as place"
        " from generate_series(1, :n) as g(q) join i on i.place = 1 + abs(:item % i.items)",
        {"i": items},
        n=num(DRAWN),
        item=hashed(seed, drawn, num(-1)),
        value=hashed(seed, drawn, num(-2)),
    )
    tree = query(
        "select :r as r, v.item, v.code"
        " from p join v on v.item = p.item and v.place = p.place join a on a.query = p.query",
        {
            "p": places,
            "v": values,
            "a": in_places(chosen(seed, DRAWN, len(spec.attributes), r), MOST),
        },
        r=num(r),
    )
    return tree.select(*[col(name, "a") for name in asked(MOST)])


def _values(spec: ReleaseSpec, state: State) -> exp.Select:
    """(item, code, place, many): values that are frequent enough; NULL is one."""
    return stacked(
        [
            query(
                "select :item as item, d.code, row_number() over (order by d.code) as place,"
                " count(*) over () as many from d where d.n >= :least",
                {"d": state.work(sensitive_values(item.index))},
                item=num(item.index),
                least=num(LEAST),
            )
            for item in spec.sensitive
        ]
    )


ASKED, KEYS = asked(MOST), keys(MOST)


def facts_of(r: int) -> tuple[Fact[float | None], Fact[int], Fact[int]]:
    """Of questions about r quasi-identifiers: the mean divergence, None where none is finite; how
    many divergences are infinite; how many questions there are."""
    of = "reconstruction_"
    return or_null(measure(f"mean{r}", of)), count(f"infinite{r}", of), count(f"questions{r}", of)


def steps(spec: ReleaseSpec, parts: PartsOf) -> list[Step]:
    """From the work tables of relations to the facts of the divergences."""
    return [
        table(
            "reconstruction_questions",
            "random sensitive values and quasi-identifiers",
            lambda s: questions(spec, s),
            into="mquestions",
        ),
        table(
            "reconstruction_actual",
            "distributions of the values in the source",
            lambda s: _actual(spec, s),
            into="mactual",
        ),
        table(
            "reconstruction_estimated",
            "distributions of the values from the published relations",
            lambda s: _estimated(parts(s), s),
            into="mestimated",
        ),
        table(
            "reconstruction_cells",
            "cells of the source; estimates of others do not count",
            lambda s: _existing(spec, s),
            into="mexisting",
            when=lambda s: bool(beside(parts(s))),
        ),
        table(
            "reconstruction_divergence",
            "divergence of both",
            lambda s: _divergence(parts(s), s),
            into="mdivergence",
        ),
        Check(
            "reconstruction_error",
            "mean divergence",
            lambda s: _means(spec, s),
            gives=[fact for r in numbers(spec) for fact in facts_of(r)],
        ),
    ]


def _actual(spec: ReleaseSpec, state: State) -> exp.Expr:
    cells = Cells(spec.attributes, spec.sensitive, MOST)
    questions = state.work("mquestions")
    tree = query(
        "select q.question, c.n from q join c on :same and c.value = q.code",
        {"q": questions, "c": cells.select(state.work("msource"), questions)},
        same=equal(cells.asked, "c", "q"),
    )
    return summed(tree.select(*[col(name, "c") for name in KEYS]), ["question", *KEYS])


# -- estimates ------------------------------------------------------------------------------------


def _estimated(parts: Parts, state: State) -> exp.Expr:
    """Records of the last QIT, times the share of the value and of the cell in their buckets."""
    tree = stacked([_of_table(parts, part, state) for part in values(parts)])
    return summed(tree, ["question", *ASKED, *KEYS])


def _of_table(parts: Parts, part: Part, state: State) -> exp.Select:
    """(question, a<p>, key<p>, n) of questions about the columns of a sensitive table."""
    last, others, questions = linking(parts), beside(parts, part), state.work("mquestions")
    held, reached = part.cells(MOST), last.cells(MOST)
    links = list(dict.fromkeys(other.link for other in others))
    tree = query(
        "select q.question, b.n * t.n / t.size as n from q join t on :held"
        " join b on :reached and :link = t.number",
        {
            "q": questions,
            "t": held.select(state.work(part.work), questions, part.sized),
            "b": reached.select(state.work(last.work), questions, last.sized, every=True),
        },
        held=conjunction([equal(held.asked, "t", "q"), fragment("t.value = q.code")]),
        reached=equal(reached.asked, "b", "q"),
        link=col(part.link, "b"),
    ).select(*[col(name, "q") for name in ASKED], *[col(name, "b") for name in links])
    tree = _keyed(tree, [alias for alias, one in (("t", part), ("b", last)) if one.attributes])
    tree = summed(tree, ["question", *ASKED, *KEYS, *links])
    for other in others:
        cells = Cells(other.attributes, (), MOST).select(
            state.work(other.work), questions, other.sized
        )
        # A question about none of its columns finds no cell.
        tree = query(
            "select r.question, r.n * coalesce(o.n / o.size, 1) as n from r"
            " left join o on :same and o.number = :link",
            {"r": tree, "o": cells},
            same=equal(ASKED, "o", "r"),
            link=col(other.link, "r"),
        ).select(*[col(name, "r") for name in (*ASKED, *links)])
        tree = _keyed(tree, ["r", "o"])
    return query("select x.question, x.n from x", {"x": tree}).select(
        *[col(name, "x") for name in (*ASKED, *KEYS)]
    )


def _keyed(tree: exp.Select, tables: Sequence[str]) -> exp.Select:
    """With the keys of the cell that the rows of these tables are in together."""
    for name in KEYS:
        keys = [col(name, table) for table in tables]
        tree = tree.select(named(exp.func("greatest", num(NONE), *keys), name))
    return tree


# -- divergence -----------------------------------------------------------------------------------


def _existing(spec: ReleaseSpec, state: State) -> exp.Expr:
    cells = Cells(spec.attributes, (), MOST)
    return cells.select(state.work("msource"), state.work("mquestions"), sums=())


def _shares(relation: QualifiedName | exp.Select) -> exp.Select:
    tree = query(
        "select x.question, x.n / sum(x.n) over (partition by x.question) as share from x",
        {"x": relation},
    )
    return tree.select(*[col(name, "x") for name in KEYS])


def _divergence(parts: Parts, state: State) -> exp.Expr:
    """Sum of p ln(p / q) over the cells with records, p the actual share, q the estimated."""
    estimated: QualifiedName | exp.Select = state.work("mestimated")
    if beside(parts):
        estimated = query(
            "select e.* from e join c on :same",
            {"e": estimated, "c": state.work("mexisting")},
            same=equal((*ASKED, *KEYS), "c", "e"),
        )
    sums = query(
        "select a.question, case when count(e.share) = count(*)"
        " then greatest(sum(a.share * ln(a.share / e.share)), 0) end as kl from a left join e"
        " on e.question = a.question and :same group by a.question",
        {"a": _shares(state.work("mactual")), "e": _shares(estimated)},
        same=equal(KEYS, "e", "a"),
    )
    return query(
        "select q.question, q.r, q.weight, s.kl from q join s on s.question = q.question",
        {"q": state.work("mquestions"), "s": sums},
    )


def _means(spec: ReleaseSpec, state: State) -> exp.Expr:
    """One row: `mean<r>` of the finite divergences, `infinite<r>` and `questions<r>`."""
    tree = query("select 1 from d", {"d": state.work("mdivergence")}).select(append=False)
    for r in numbers(spec):
        mine = {"r": num(r)}
        sums = "sum(d.weight * d.kl) filter (where d.r = :r)"
        finite = "sum(d.weight) filter (where d.r = :r and d.kl is not null)"
        every = "coalesce(sum(d.weight) filter (where d.r = :r), 0)"
        figures = (f"{sums} / {finite}", f"{every} - coalesce({finite}, 0)", every)
        for fact, text in zip(facts_of(r), figures, strict=True):
            tree = tree.select(named(fragment(text, **mine), fact.column))
    return tree
