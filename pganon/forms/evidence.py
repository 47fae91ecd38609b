"""Evidence of versions as it is stored, with a digest in the ledger that it is held against."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

DIGEST = "evidence_sha256"
"""The digest in the details of the event that published a version."""

WARNINGS = "warnings"
"""What its run warned of, in the measures of a version."""

JUDGEMENT = "judgement"
"""Key of the evidence that is there whatever a run measured: what holds beside other versions."""


def canonical(document: Mapping[str, Any]) -> str:
    """JSON with sorted keys and no blanks, to be written as UTF-8."""
    return json.dumps(document, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def sha256(document: Mapping[str, Any]) -> str:
    """Digest (hex) of the canonical JSON."""
    return hashlib.sha256(canonical(document).encode()).hexdigest()


def evidence_details(evidence: Mapping[str, Any]) -> dict[str, str]:
    """Details of that event."""
    return {DIGEST: sha256(evidence)}
