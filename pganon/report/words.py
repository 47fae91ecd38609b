"""Numbers, names and times as the report writes them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

SPACE = "\u00a0"
"""Between a number and its unit, which stay on one line."""

MINUS = "\u2212"

LONGEST = 60
"""Characters of a name or a value; the rest is cut."""

_HARMFUL = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]"
)


def plain(text: str, longest: int = LONGEST) -> str:
    """A name, value or reason of others without what turns, hides or breaks a line."""
    shown = _HARMFUL.sub("\ufffd", text)
    return shown if len(shown) <= longest else f"{shown[: longest - 1]}…"


def value(text: str | None, longest: int = LONGEST) -> str:
    """A value of a column; None is NULL."""
    if text is None:
        return "no value"
    return plain(text, longest) if text.strip() else "(blank)"


def count(number: float) -> str:
    """A number of people or records."""
    return f"{number:,.0f}"


def percent(share: float | None) -> str:
    """A share to two digits at least: 8.3 %, 50 %, 0.04 %; None of all but few of them."""
    if share is None:
        return "all but few"
    hundred = 100 * share
    if hundred == 0:
        return f"0{SPACE}%"
    if hundred < 0.01:
        return f"below 0.01{SPACE}%"
    digits = 0 if round(hundred, 1) == int(round(hundred, 1)) or hundred >= 99.95 else 1
    if hundred < 0.95:
        return f"{hundred:.2g}{SPACE}%"
    if hundred >= 99.95 and hundred < 100:
        return f"above 99.9{SPACE}%"
    return f"{hundred:.{digits}f}{SPACE}%"


def points(difference: float) -> str:
    """A difference of shares in percentage points: +33.3, -2, 0."""
    hundred = round(100 * difference, 1)
    digits = 0 if hundred == int(hundred) else 1
    return f"{hundred:+.{digits}f}".replace("-", MINUS) if hundred else "0"


def number(figure: float) -> str:
    """A figure to three digits."""
    return f"{figure:,.0f}" if abs(figure) >= 100 or figure == int(figure) else f"{figure:.3g}"


def once(size: int) -> str:
    """The chance to guess one of so many: `12.5 % (1 in 8)`."""
    return (
        f"{percent(1 / size)} ({'certain' if size == 1 else SPACE.join(('1', 'in', count(size)))})"
    )


def listed(names: Sequence[str], last: str = "and") -> str:
    """`age, sex and zip`."""
    shown = [plain(name) for name in names]
    return f" {last} ".join(filter(None, [", ".join(shown[:-1]), *shown[-1:]]))


def the_columns(names: Sequence[str], last: str = "and") -> str:
    """`the column age`, `the columns age, sex and zip`."""
    return f"the column{'' if len(names) == 1 else 's'} {listed(names, last)}"


def exactly(names: Sequence[str]) -> str:
    return f"{the_columns(names)} {'is' if len(names) == 1 else 'are'} published exactly"


def knowing(known: Sequence[str], partly: Sequence[str]) -> str:
    """What others know: `the column age (and the column zip, where it is not hidden)`."""
    if not partly:
        return the_columns(known)
    hidden = f"where {'it is' if len(partly) == 1 else 'they are'} not hidden"
    if not known:
        return f"{the_columns(partly)} ({hidden})"
    return f"{the_columns(known)} (and {the_columns(partly)}, {hidden})"


def in_common(most: Mapping[str, float]) -> Iterator[str]:
    """Sentences about the largest share of a group with one value, each of all columns it is of."""
    everybody = [name for name, share in most.items() if share >= 1]
    if everybody:
        yield f"In some groups all have the same value in {the_columns(everybody, 'or')}."
    by_share: dict[str, list[str]] = {}
    for name, share in most.items():
        if share < 1:
            by_share.setdefault(percent(share), []).append(name)
    if by_share:
        (share, names), *others = by_share.items()
        more = "".join(f", or more than {s} in {the_columns(n, 'or')}" for s, n in others)
        alike = f"have the same value in {the_columns(names, 'or')}{more}"
        yield f"In no group do more than {share} {alike}."


def several(number: int, one: str, many: str | None = None) -> str:
    """`1 column`, `2 columns`."""
    return f"{count(number)} {one if number == 1 else many or f'{one}s'}"


def guess(*, alone: bool) -> str:
    """A guess about a group; `alone`, if what is said of it holds for who has one version."""
    return "a guess of who has no other version" if alone else "a guess"


def day(at: datetime) -> str:
    return f"{at.day} {at:%B %Y}"


def minute(at: datetime) -> str:
    return f"{at.day} {at:%b %Y %H:%M}"


def sentence(text: str) -> str:
    """With a capital letter."""
    return text[:1].upper() + text[1:]
