"""Evidence of versions as it is stored, with a digest in the ledger that it is held against."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

DIGEST = "evidence_sha256"
"""The digest in the details of the event that published a version."""


def sha256(evidence: Mapping[str, Any]) -> str:
    """Digest (hex) of the canonical JSON: sorted keys, no blanks, UTF-8."""
    text = json.dumps(evidence, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def evidence_details(evidence: Mapping[str, Any] | None) -> dict[str, str]:
    """Details of that event; none without evidence."""
    return {} if evidence is None else {DIGEST: sha256(evidence)}
