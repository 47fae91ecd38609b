"""Short names of measured requirements, as heads of columns."""

from __future__ import annotations

from collections.abc import Collection, Mapping

Measure = tuple[str, str | None, str]
"""Model, column and symbol: of several distributions that it is compared with the worst counts."""


def heads_of(measures: Collection[Measure], taken: Collection[str] = ()) -> Mapping[Measure, str]:
    """The symbol, with the column or the model where it would not say which.

    Args:
        taken: heads of other columns.
    """
    for heads in (
        {key: key[2] for key in measures},
        {(m, of, symbol): f"{symbol} of {of}" if of else symbol for m, of, symbol in measures},
    ):
        if len(set(heads.values())) == len(heads):
            break
    else:
        several = len({column for _, column, _ in measures}) > 1
        heads = {
            (model, column, symbol): " ".join(
                filter(None, [model, column if several else None, symbol])
            )
            for model, column, symbol in measures
        }
    return {key: f"measured {head}" if head in taken else head for key, head in heads.items()}
