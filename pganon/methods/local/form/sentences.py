"""What local groups and buckets say of themselves: the buckets, and what is learned of them."""

from __future__ import annotations

from collections.abc import Iterator

from pganon.forms import sentences as sentences
from pganon.forms.sentences import Told, count, share, told
from pganon.forms.utility import Utility
from pganon.methods.local.form.statistics import LocalUtility


def tell(utility: Utility, members: str) -> list[Told]:
    assert isinstance(utility, LocalUtility)
    return list(_told(utility, members))


def _told(utility: LocalUtility, members: str) -> Iterator[Told]:
    for name, found in utility.buckets.items():
        if not found.buckets:
            yield told(f"buckets of {name}", f"Nobody's value in the column {name} is in a bucket.")
        elif found.largest == 1:
            yield told(
                f"buckets of {name}",
                f"Every hidden value in the column {name} stands alone: it is hidden as far as the"
                " group hides whose it is.",
            )
        else:
            yield told(
                f"buckets of {name}",
                count(found.cells),
                f" values in the column {name} are in ",
                count(found.buckets),
                " buckets of at least ",
                count(found.smallest),
                ". Whose value it is, is hidden. One value has at most ",
                share(found.share),
                " of a bucket.",
                of=found.cells,
            )
    for names in utility.aligned:
        yield told(
            "buckets in common", f"The columns {' and '.join(names)} have their buckets in common."
        )
    yield from sentences.learned(utility.inferred, members, "learning {}", "the buckets")
    yield from sentences.learned(
        utility.taught, members, "learning {} from others", "those who show it"
    )
