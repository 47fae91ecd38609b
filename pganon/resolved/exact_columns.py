"""Published columns that may hold identifiers, and show the values as they are."""

from __future__ import annotations

from pganon.identifiers import first_few, quote
from pganon.policy.safe_harbor import hints
from pganon.resolved.model import ReleaseSpec, Shown


def unchanged_identifiers(spec: ReleaseSpec) -> list[str]:
    """A warning about these columns, by their names and types alone."""
    columns = [item.column for item in (*spec.sensitive, *spec.carried)]
    columns += [a.column for a in spec.attributes if a.form is Shown.EXACT]
    kinds: dict[str, str] = {}
    for hint in hints({column.name: column for column in columns}.values()):
        kinds.setdefault(hint.column, hint.label)
    if not kinds:
        return []
    named = first_few([f"{quote(name)} ({kind})" for name, kind in kinds.items()])
    return [
        f"published as they are, and may be identifiers by HIPAA Safe Harbor: {named}; see"
        f" `pganon quasi {spec.source.name} --identifiers us`"
    ]
