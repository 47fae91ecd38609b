"""Who is attacked: people of the snapshot in a random order, some of whom are held out.

drawn      the columns of the snapshot, and `person`, and `place`: people by number from 1, in an
           order drawn by the seed, whatever the order of rows is
shadow     the snapshot without the people who come first
known      (person, place, first, f<h>, q<i>, t<i>, e<i>, l<i>, v<j>, p<j>): what is true of every
           record: which values it hides; value, its text, key and labels of quasi-identifiers that
           it does not hide; keys of other values, of some columns only of those that it hides. One
           record of each person, drawn, is the `first`
targets    (t, held, q<i>, .., v<j>): the records that are attacked
"""

from __future__ import annotations

from sqlglot import exp

from pganon.encode.secrets import keyed_hash
from pganon.encode.sensitive import sensitive_key
from pganon.encode.work import SNAP, dictionary
from pganon.forms.elements import element, text_key
from pganon.resolved.model import Attribute, ReleaseSpec, Shown
from pganon.sqltools import aliased, col, computed_once, fragment, named, num, query, text
from pganon.steps import State

DRAWN, SHADOW, KNOWN, TARGETS = "drawn", "shadow", "known", "targets"
"""Work tables of the run that all dry runs belong to."""


def drawn(spec: ReleaseSpec, state: State) -> exp.Select:
    """Everybody in the snapshot of the run."""
    columns = list(SNAP.columns(spec, state))
    rows = query("select 1 from s", {"s": state.work(SNAP)})
    rows = rows.select(*[col(name, "s") for name in columns], append=False)
    rows = rows.select(named(fragment("s::text"), "content"))
    # Rows with equal content are alike: which of them is taken does not matter.
    number = fragment("row_number() over (partition by r.content)::text")
    alone = fragment(":content || '#' || :number", content=col("content", "r"), number=number)
    identity = next((name for name in ("individual", "record") if name in columns), None)
    person = col(identity, "r") if identity else alone
    found = query("select r.* from r", {"r": rows}).select(named(person, "person"))
    hashed = computed_once(
        query(
            "select p.*, :draw as draw from p",
            {"p": found},
            draw=keyed_hash(state, fragment(":a || p.person", a=text("person:"))),
        )
    )
    place = "select dense_rank() over (order by h.draw) as place, h.person from h"
    tree = query(place, {"h": hashed})
    return tree.select(*[col(name, "h") for name in columns], col("content", "h"))


def shadow(spec: ReleaseSpec, state: State, held: int) -> exp.Select:
    """The snapshot of everybody but those held out."""
    tree = query("select 1 from d where d.place > :held", {"d": state.work(DRAWN)}, held=num(held))
    return tree.select(*[col(name, "d") for name in SNAP.columns(spec, state)], append=False)


def known(spec: ReleaseSpec, state: State, encoded: State) -> exp.Select:
    """All records as attackers know them.

    Args:
        state: of the run that has the people.
        encoded: of a run that has encoded all of them.
    """
    first = fragment(
        "row_number() over (partition by d.person order by :h, d.content) = 1",
        h=keyed_hash(state, fragment(":a || d.content", a=text("record:"))),
    )
    tree = query("select d.person, d.place from d", {"d": state.work(DRAWN)})
    tree = tree.select(named(first, "first"))
    tree = tree.select(*[col(hidden.flag, "d") for hidden in spec.hidden])
    for a in spec.attributes:
        tree = _with_attribute(tree, a, encoded)
    for item in spec.sensitive:
        value = text_key(sensitive_key(item, col(f"s{item.index}", "d")))
        tree.select(named(value, f"v{item.index}"), copy=False)
    for item in spec.carried:
        tree.select(named(text_key(col(f"p{item.index}", "d")), f"p{item.index}"), copy=False)
    return tree


def _with_attribute(tree: exp.Select, a: Attribute, encoded: State) -> exp.Select:
    i, value = a.index, col(f"q{a.index}", "d")
    tree = tree.select(value)
    if a.form in (Shown.SET, Shown.VALUES):
        shown = element(a, value.copy())
        return tree.select(named(fragment(":v::text", v=shown), f"t{i}"))
    if a.form is Shown.EXACT:
        return tree.select(named(text_key(element(a, value.copy())), f"e{i}"))
    if a.form is not Shown.LABEL:
        return tree
    labels = query(
        "select c.value, array_agg(k.label::text) as labels from c"
        " join k on k.code = c.code group by c.value",
        {"c": encoded.work(dictionary(i)), "k": encoded.work(f"level{i}")},
    )
    on = exp.EQ(this=col("value", f"k{i}"), expression=value.copy())
    tree = tree.join(aliased(labels, f"k{i}"), on=on, join_type="left")
    return tree.select(named(col("labels", f"k{i}"), f"l{i}"))


def targets(state: State, held: int, number: int) -> exp.Select:
    """So many of those held out, and as many of the others: one record of each. Of a release that
    nobody is held out of, as many, who are the same people that others are attacked without."""
    return query(
        "select k.*, k.place as t, k.place <= :held as held from k where k.first"
        " and (k.place <= :number or (k.place > :held and k.place <= :last))",
        {"k": state.work(KNOWN)},
        held=num(held),
        number=num(number),
        last=num(held + number),
    )
