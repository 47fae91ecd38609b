"""Signatures of reports: Ed25519 over the canonical JSON of a statement about the file.

The statement names release, version or request, edition, evidence, and digests of the report's
document and of the page around it. A file is what pganon would write of the document in it, byte
for byte, so that whoever reads it in another way than this module sees the same. The key comes
another way than the report: one inside of it would prove nothing.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pganon.error_codes import ErrorCode
from pganon.errors import PreconditionError, UsageError
from pganon.forms.confidential import canonical, sha256
from pganon.report.template import as_json, as_script, is_page

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import (
        Ed25519PrivateKey,
        Ed25519PublicKey,
    )

PURPOSE = "pganon report 1"
"""Begins every statement, so that the key signs nothing else."""

_REPORT = '<script type="application/json" id="pganon-report">'
_SIGNATURE = '<script type="application/json" id="pganon-signature">'


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


def sign(name: str, text: str, private: bytes, at: datetime) -> str:
    """The report with its signature.

    Args:
        name: of the file, whose ending says whether it is a page.

    Raises:
        UsageError: that is no private key.
        PreconditionError: no_cryptography.
    """
    key = _private(private)
    report, bare, _ = _parts(name, text.encode())
    said = _statement(report, bare, at.isoformat(), _fingerprint(key.public_key()))
    signature = base64.b64encode(key.sign(canonical(said).encode())).decode()
    return _with(name, text, report, {"statement": said, "signature": signature})


def report_of(name: str, content: bytes) -> dict[str, Any]:
    """The document of a report, whoever wrote it.

    Raises:
        Unsigned: it is no report.
        UsageError: the name has another ending.
    """
    return _parts(name, content)[0]


def verify(name: str, content: bytes, public: bytes) -> dict[str, Any]:
    """The statement that the key signed about this file, which says the same of itself.

    Raises:
        Unsigned: it is another file, or another key.
        UsageError: that is no public key, or the name has another ending.
        PreconditionError: no_cryptography.
    """
    key = _public(public)
    from cryptography.exceptions import InvalidSignature

    report, bare, given = _parts(name, content)
    if given is None:
        raise Unsigned("it is not signed")
    try:
        said, signature = given["statement"], base64.b64decode(given["signature"], validate=True)
        at = said["signed_at"]
        key.verify(signature, canonical(said).encode())
    except (InvalidSignature, KeyError, TypeError, ValueError):
        raise Unsigned("it was not signed with this key") from None
    if given != {"statement": said, "signature": base64.b64encode(signature).decode()}:
        raise Unsigned("its signature was changed")
    wanted = _statement(report, bare, at, _fingerprint(key))
    differing = [part for part, value in wanted.items() if said.get(part) != value]
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


def _parts(name: str, content: bytes) -> tuple[dict[str, Any], str, Any]:
    """The document, the file without its signature, and that.

    Raises:
        Unsigned: it is no report, or not as pganon writes one.
    """
    page = is_page(Path(name))
    try:
        text = content.decode()
        if page:
            report, held = _read(_between(text, _REPORT)), _between(text, _SIGNATURE)
            given = _read(held) if held else None
        else:
            report = _read(text)
            given = report.pop("signature", None)
        bare = _with(name, text, report, None) if page else canonical(report)
        _statement(report, bare, "", "")
        same = _with(name, text, report, given) == text
    except (ValueError, KeyError, TypeError, RecursionError):
        raise Unsigned("it is no report of pganon") from None
    if not same:
        raise Unsigned("it is not as pganon writes it: somebody changed it")
    return report, bare, given


def _read(text: str) -> dict[str, Any]:
    """A document without anything that other programs could read in another way."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            raise Unsigned("a key is there twice: somebody changed it")
        return found

    found = json.loads(text, object_pairs_hook=once)
    if not isinstance(found, dict):
        raise TypeError
    return found


def _between(text: str, opening: str) -> str:
    """What an element has that is there once."""
    _, held = text.split(opening)
    return held[: held.index("</script>")]


def _with(
    name: str, text: str, report: Mapping[str, Any], signature: Mapping[str, Any] | None
) -> str:
    """As pganon writes it. The other parts of a page are those of the text, which is signed."""
    if not is_page(Path(name)):
        return as_json(report if signature is None else {**report, "signature": signature})
    written = {_REPORT: as_script(report), _SIGNATURE: as_script(signature) if signature else ""}
    for opening, script in written.items():
        before, held = text.split(opening)
        text = f"{before}{opening}{script}{held[held.index('</script>') :]}"
    return text


# -- keys -------------------------------------------------------------------------------------


def _private(pem: bytes) -> Ed25519PrivateKey:
    _check()
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    with suppress(ValueError, TypeError):
        key = load_pem_private_key(pem, None)
        if isinstance(key, Ed25519PrivateKey):
            return key
    raise UsageError("that is no private key for reports", hint="pganon report key FILE")


def _public(pem: bytes) -> Ed25519PublicKey:
    _check()
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    with suppress(ValueError):
        key = load_pem_public_key(pem)
        if isinstance(key, Ed25519PublicKey):
            return key
    raise UsageError(
        "that is no public key of a report", hint="pganon report key FILE writes FILE.pub"
    )


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
