"""Forms of records, where too few show and hide the same columns.

A form is a text with a letter per semi-sensitive column: g for a value that is generalized, b for
one that is in a bucket, w for one that is withheld. Forms depend only on flags.
"""

from __future__ import annotations

from collections.abc import Mapping

GENERALIZED = "g"
BUCKET = "b"
WITHHELD = "w"


def merged(sizes: Mapping[str, int], k: int) -> dict[str, str]:
    """The form of every mask, such that k records or more have each form.

    The smallest class is merged with the one for which the fewest additional cells are withheld.

    Args:
        sizes: records by mask, k or more in all.
    """
    form_of = {mask: mask for mask in sizes}
    classes = dict(sizes)
    while min(classes.values()) < k:
        small = min(classes, key=lambda form: (classes[form], form))
        other = min(
            (form for form in classes if form != small),
            key=lambda form: (_withheld(small, form, classes), classes[form], form),
        )
        form = common(small, other)
        size = classes.pop(small) + classes.pop(other)
        classes[form] = classes.get(form, 0) + size
        for mask, now in form_of.items():
            if now in (small, other):
                form_of[mask] = form
    return form_of


def common(one: str, other: str) -> str:
    """The letters on which both agree; else the value is withheld."""
    return "".join(a if a == b else WITHHELD for a, b in zip(one, other, strict=True))


def _withheld(one: str, other: str, sizes: Mapping[str, int]) -> int:
    """Number of cells that the merge withholds additionally."""
    both = common(one, other).count(WITHHELD) * (sizes[one] + sizes[other])
    return both - sum(sizes[form] * form.count(WITHHELD) for form in (one, other))
