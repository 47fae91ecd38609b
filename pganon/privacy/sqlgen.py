"""Writes sql/functions/measure/measures.sql: the models as texts for the SQL functions.

`python -m pganon.privacy.sqlgen` after a change of a model; a test compares the file with what
this module gives, so analysts' functions and releases measure with the same expressions.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from sqlglot import exp

from pganon.privacy.base import Model
from pganon.privacy.frequency import (
    AnatomyLDiversity,
    DistinctLDiversity,
    EntropyLDiversity,
    KAnonymity,
    RecursiveCLDiversity,
    RelativeFrequency,
)
from pganon.privacy.identity import EIRBeta, IRAlpha, IRBeta, IRKAnonymity
from pganon.privacy.likeness import BetaLikeness, DeltaDisclosure, TCloseness
from pganon.privacy.rows import class_rows
from pganon.sqltools import col, query, render

PATH = "functions/measure/measures.sql"

HEADER = """\
-- The privacy models as texts: per model the aggregate that measures one class over its rows g,
-- and the condition that a "measure" satisfies a "parameter"; per set of needs the rows.
-- Written by `python -m pganon.privacy.sqlgen` from the models in Python; do not edit.
CREATE FUNCTION pganon.measures()
    RETURNS TABLE (name text, counts text, needs text, aggregate text, bound text, holds text)
    LANGUAGE sql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
AS $$
VALUES
"""

FOOTER = """
$$;

COMMENT ON FUNCTION pganon.measures() IS
    'the privacy models as texts that pganon.measure_query puts together';
"""


@dataclass(frozen=True)
class Entry:
    """A model under its name in results; `counts` is the unit of a class's rows."""

    name: str
    model: Model
    counts: str = "values"
    aggregate: exp.Expr | None = None

    @property
    def needs(self) -> str:
        model = self.model
        return row_kind(model.needs_reference, model.needs_moves, model.needs_rank)


def row_kind(reference: bool, moves: bool, rank: bool) -> str:
    """Name of a set of needs: plain, shares or moves, with _rank where ranks are read."""
    base = "moves" if moves else "shares" if reference else "plain"
    return f"{base}_rank" if rank else base


def entries() -> list[Entry]:
    """Parameters are not in the aggregates but for l, which is the column "l" of the text."""
    ranked = RecursiveCLDiversity(1, 3)
    any_l = RecursiveCLDiversity.ratio("g", RecursiveCLDiversity.tail("g", col("l")))
    return [
        Entry("k_anonymity", KAnonymity(1), "classes"),
        Entry("distinct_l_diversity", DistinctLDiversity(1)),
        Entry("entropy_l_diversity", EntropyLDiversity(1)),
        Entry("recursive_cl_diversity", RecursiveCLDiversity(1, 2)),
        Entry("recursive_cl_diversity_any_l", ranked, aggregate=any_l),
        Entry("frequency_l_diversity", AnatomyLDiversity(1)),
        Entry("alpha", RelativeFrequency(1)),
        Entry("t_closeness", TCloseness(1)),
        Entry("t_closeness_ordered", TCloseness(1, "ordered")),
        Entry("beta_likeness", BetaLikeness(1, "basic")),
        Entry("beta_likeness_enhanced", BetaLikeness(1, "enhanced")),
        Entry("delta_disclosure", DeltaDisclosure(1)),
        Entry("ir_k_anonymity", IRKAnonymity(1), "individuals"),
        Entry("ir_alpha", IRAlpha(1), "individuals"),
        Entry("ir_beta", IRBeta(1)),
        Entry("eir_beta", EIRBeta(1), "holders"),
    ]


def rows(kind: str) -> str:
    """The rows of classes of a kind, from the relations `histogram` and `reference`."""
    models: list[Model] = [KAnonymity(1)]
    if not kind.startswith("plain"):
        models += [TCloseness(1), DeltaDisclosure(1)]
    if kind.startswith("moves"):
        models.append(TCloseness(1, "ordered"))
    if kind.endswith("_rank"):
        models.append(RecursiveCLDiversity(1, 3))
    histogram = query("select x.class, x.value, x.n from histogram as x")
    reference = query("select x.value, x.position, x.share from reference as x")
    return render(class_rows(histogram, ["class"], models, reference))


def text() -> str:
    """The SQL file."""
    lines = [_line(entry) for entry in entries()]
    for base in ("plain", "shares", "moves"):
        for kind in (base, f"{base}_rank"):
            lines.append(_values([kind, "rows", kind, rows(kind), "", ""]))
    return HEADER + ",\n".join(lines) + FOOTER


def _line(entry: Entry) -> str:
    aggregate = entry.model.aggregate("g") if entry.aggregate is None else entry.aggregate
    holds = entry.model.holds_for(col("measure"), col("parameter"))
    extreme = "min" if entry.model.comparison.startswith(">") else "max"
    return _values(
        [entry.name, entry.counts, entry.needs, render(aggregate), extreme, render(holds)]
    )


def _values(items: Iterable[str]) -> str:
    return "    (" + ",\n     ".join(exp.Literal.string(item).sql() for item in items) + ")"


def main() -> None:
    target = Path(__file__).resolve().parents[2] / "sql" / PATH
    target.write_text(text(), encoding="utf-8")


if __name__ == "__main__":
    main()
