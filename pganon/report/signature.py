"""Signatures of reports: Ed25519 over the canonical JSON of a statement about the file.

The statement names release, version, evidence, and digests of the report's document and of the page
around it. The key comes another way than the report: one inside of it would prove nothing.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from pganon.error_codes import ErrorCode
from pganon.errors import PreconditionError, UsageError
from pganon.forms.evidence import canonical, sha256
from pganon.plain import as_json
from pganon.report.template import as_script

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import (
        Ed25519PrivateKey,
        Ed25519PublicKey,
    )

PURPOSE = "pganon report 1"
"""Begins every statement, so that the key signs nothing else."""

_REPORT = re.compile(r'<script type="application/json" id="pganon-report">(.*?)</script>', re.S)
_SIGNATURE = re.compile(
    r'(?<=<script type="application/json" id="pganon-signature">)(.*?)(?=</script>)', re.S
)


class Unsigned(Exception):
    """The file is not what somebody signed with the key; says why."""


def new_key() -> tuple[bytes, bytes]:
    """A private key and its public key, as PEM.

    Raises:
        PreconditionError: no_cryptography.
    """
    _check()
    from cryptography.hazmat.primitives import serialization as form
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    key = Ed25519PrivateKey.generate()
    private = key.private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, form.NoEncryption())
    public = key.public_key().public_bytes(
        form.Encoding.PEM, form.PublicFormat.SubjectPublicKeyInfo
    )
    return private, public


def sign(text: str, private: bytes, at: datetime) -> str:
    """The report, a page or JSON, with its signature.

    Raises:
        UsageError: that is no private key.
        PreconditionError: no_cryptography.
    """
    key = _private(private)
    report, bare, _ = _parts(text)
    said = _statement(report, bare, at.isoformat(), _fingerprint(key.public_key()))
    signature = base64.b64encode(key.sign(canonical(said).encode())).decode()
    return _with(text, {"statement": said, "signature": signature})


def report_of(text: str) -> dict[str, Any]:
    """The document of a report, a page or JSON, whoever wrote it.

    Raises:
        Unsigned: it is no report.
    """
    return _parts(text)[0]


def verify(text: str, public: bytes) -> dict[str, Any]:
    """The statement that the key signed about this file, which says the same of itself.

    Raises:
        Unsigned: it is another file, or another key.
        UsageError: that is no public key.
        PreconditionError: no_cryptography.
    """
    key = _public(public)
    from cryptography.exceptions import InvalidSignature

    report, bare, given = _parts(text)
    if given is None:
        raise Unsigned("it is not signed")
    if not isinstance(given, dict) or given.keys() != {"statement", "signature"}:
        raise Unsigned("its signature was changed")
    try:
        said, signature = given["statement"], base64.b64decode(given["signature"], validate=True)
        at = said["signed_at"]
        key.verify(signature, canonical(said).encode())
    except (InvalidSignature, KeyError, TypeError, AttributeError, binascii.Error):
        raise Unsigned("it was not signed with this key") from None
    wanted = _statement(report, bare, at, _fingerprint(key))
    differing = [name for name, value in wanted.items() if said.get(name) != value]
    if differing or said.keys() != wanted.keys():
        raise Unsigned(f"it was changed after it was signed: {', '.join(differing)}")
    return said


def _statement(report: Mapping[str, Any], bare: str, at: str, key: str) -> dict[str, Any]:
    properties = report["properties"]
    return {
        "purpose": PURPOSE,
        "release": properties["release"],
        "version": properties["version"],
        "request": properties["request"],
        "edition": report["edition"],
        "report_sha256": sha256(report),
        "page_sha256": hashlib.sha256(bare.encode()).hexdigest(),
        "evidence_sha256": report["proof"]["evidence_sha256"],
        "signed_at": at,
        "key": key,
    }


def _parts(text: str) -> tuple[dict[str, Any], str, Any]:
    """The document, the file without its signature, and that.

    Raises:
        Unsigned: it is no report.
    """
    try:
        if text.startswith("{"):
            report = json.loads(text)
            given = report.pop("signature", None)
            return _document(report), canonical(report), given
        (embedded,) = _REPORT.findall(text)
        (held,) = _SIGNATURE.findall(text)
        given = json.loads(held) if held else None
        if given is not None and as_script(given) != held:
            raise Unsigned("its signature was changed")
        return _document(json.loads(embedded)), _SIGNATURE.sub("", text), given
    except (ValueError, KeyError, TypeError):
        raise Unsigned("it is no report of pganon") from None


def _document(report: dict[str, Any]) -> dict[str, Any]:
    for path in (("properties", "release"), ("proof", "evidence_sha256"), ("edition",)):
        found: Any = report
        for part in path:
            found = found[part]
    return report


def _with(text: str, signature: Mapping[str, Any]) -> str:
    if text.startswith("{"):
        document = {**json.loads(text), "signature": signature}
        return f"{as_json(document, kept=True, indent=2, sort_keys=True)}\n"
    return _SIGNATURE.sub(lambda found: as_script(signature), text)


# -- keys -------------------------------------------------------------------------------------


def _private(pem: bytes) -> Ed25519PrivateKey:
    _check()
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        key = load_pem_private_key(pem, None)
    except (ValueError, TypeError):
        key = None
    if not isinstance(key, Ed25519PrivateKey):
        raise UsageError("that is no private key for reports", hint="pganon report key FILE")
    return key


def _public(pem: bytes) -> Ed25519PublicKey:
    _check()
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    try:
        key = load_pem_public_key(pem)
    except ValueError:
        key = None
    if not isinstance(key, Ed25519PublicKey):
        raise UsageError(
            "that is no public key of a report", hint="pganon report key FILE writes FILE.pub"
        )
    return key


def _fingerprint(key: Ed25519PublicKey) -> str:
    return hashlib.sha256(key.public_bytes_raw()).hexdigest()


def _check() -> None:
    try:
        import cryptography as _  # noqa: F401
    except ImportError:
        raise PreconditionError(
            "signatures need the package cryptography, which is not installed",
            hint="pip install 'pganon[report]'",
            code=ErrorCode.NO_CRYPTOGRAPHY,
        ) from None
