"""Writes sql/functions/measure/measures.sql: the models as texts for the SQL functions.

`python -m tests.support.harness.measures` after a change of a model; a test compares the file with
what this module gives, so analysts' functions and releases measure with the same expressions.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from sqlglot import exp

from pganon.privacy.assessment_measures import Measure, measures
from pganon.privacy.rows import class_rows
from pganon.sqltools import col, query, render

PATH = "functions/measure/measures.sql"

HEADER = """\
-- The privacy models as texts: per model the aggregate that measures one class over its rows g,
-- and the condition that a "measure" satisfies a "parameter"; per set of needs the rows.
-- Written by `python -m tests.support.harness.measures` from the models in Python; do not edit.
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


def rows(kind: str) -> str:
    """The rows of classes of a kind, from the relations `histogram` and `reference`."""
    read = set[str]()
    if not kind.startswith("plain"):
        read |= {"share", "domain"}
    if kind.startswith("moves"):
        read.add("moved")
    if kind.endswith("_rank"):
        read.add("rank")
    histogram = query("select x.class, x.value, x.n from histogram as x")
    reference = query("select x.value, x.position, x.share from reference as x")
    return render(class_rows(histogram, ["class"], read, reference))


def text() -> str:
    """The SQL file."""
    lines = [_line(measure) for measure in measures() if measure.counts]
    for base in ("plain", "shares", "moves"):
        for kind in (base, f"{base}_rank"):
            lines.append(_values([kind, "rows", kind, rows(kind), "", ""]))
    return HEADER + ",\n".join(lines) + FOOTER


def _line(measure: Measure) -> str:
    model = measure.model
    aggregate = model.aggregate("g") if measure.aggregate is None else measure.aggregate
    holds = model.holds_for(col("measure"), col("parameter"))
    extreme = "min" if model.comparison.startswith(">") else "max"
    read = {column.name for column in aggregate.find_all(exp.Column)}
    base = "moves" if "moved" in read else "shares" if "share" in read else "plain"
    needs = f"{base}_rank" if "rank" in read else base
    return _values([measure.name, measure.counts, needs, render(aggregate), extreme, render(holds)])


def _values(items: Iterable[str]) -> str:
    return "    (" + ",\n     ".join(exp.Literal.string(item).sql() for item in items) + ")"


def main() -> None:
    target = Path(__file__).resolve().parents[3] / "sql" / PATH
    target.write_text(text(), encoding="utf-8")


if __name__ == "__main__":
    main()
