"""The keys of service accounts' tokens: PEM of RSA and ECDSA keys and certificates (client-go: keyutil)."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from ktui.documents.limits import read_bytes
from ktui.kube.json_trees import Obj

PublicKey = rsa.RSAPublicKey | ec.EllipticCurvePublicKey
PrivateKey = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey

MOST_BYTES = 1 << 20
MOST_KEYS = 1000
_BLOCK = re.compile(rb"-----BEGIN ([A-Z0-9 ]{1,40})-----.*?-----END \1-----", re.DOTALL)
_CURVES = {"secp256r1": "ES256", "secp384r1": "ES384", "secp521r1": "ES512"}
_JWK_CURVES = {"ES256": "P-256", "ES384": "P-384", "ES512": "P-521"}
_SPKI = serialization.PublicFormat.SubjectPublicKeyInfo


@dataclass(frozen=True, slots=True)
class VerificationKey:
    """A public key, its algorithm (RS256, ES256, …), and the id that upstream gives it."""

    key: PublicKey
    algorithm: str
    key_id: str

    @classmethod
    def of(cls, key: object) -> VerificationKey:
        """Raise ValueError for a key of another kind than upstream's tokens can have."""
        if isinstance(key, rsa.RSAPublicKey):
            algorithm = "RS256"
        elif isinstance(key, ec.EllipticCurvePublicKey) and key.curve.name in _CURVES:
            algorithm = _CURVES[key.curve.name]
        else:
            raise ValueError("not an RSA key, nor an ECDSA key of P-256, P-384 or P-521")
        digest = hashlib.sha256(key.public_bytes(serialization.Encoding.DER, _SPKI)).digest()
        return cls(key, algorithm, _base64url(digest))

    def jwk(self) -> Obj:
        """Return the key as a JSON Web Key (RFC 7517)."""
        named = {"use": "sig", "kid": self.key_id, "alg": self.algorithm}
        numbers = self.key.public_numbers()
        if isinstance(numbers, rsa.RSAPublicNumbers):
            return {**named, "kty": "RSA", "n": _number(numbers.n), "e": _number(numbers.e)}
        size = (self.key.key_size + 7) // 8
        point = {"x": _number(numbers.x, size), "y": _number(numbers.y, size)}
        return {**named, "kty": "EC", "crv": _JWK_CURVES[self.algorithm], **point}


def read_public_keys(path: Path, option: str) -> list[VerificationKey]:
    """Return the keys in a file, of private keys their public part; ValueError names option and file."""
    found = []
    try:
        for key in _keys(read_bytes(path, MOST_BYTES)):
            public = key.public_key() if isinstance(key, PrivateKey) else key
            found.append(VerificationKey.of(public))
    except (OSError, ValueError) as error:
        raise ValueError(f"{option} {path} cannot be read: {error}") from error
    if not found:
        raise ValueError(f"{option} {path} has no RSA or ECDSA key in PEM")
    return found


def read_private_key(path: Path, option: str) -> PrivateKey:
    """Return the first private key in a file; ValueError names option and file."""
    try:
        for key in _keys(read_bytes(path, MOST_BYTES)):
            if isinstance(key, PrivateKey):
                VerificationKey.of(key.public_key())
                return key
    except (OSError, ValueError) as error:
        raise ValueError(f"{option} {path} cannot be read: {error}") from error
    raise ValueError(f"{option} {path} has no private RSA or ECDSA key in PEM")


def _keys(pem: bytes) -> Iterator[object]:
    """Yield the key of each PEM block. Raises ValueError for a block that is damaged or encrypted."""
    for number, block in enumerate(_BLOCK.finditer(pem), 1):
        if number > MOST_KEYS:
            raise ValueError(f"it has more than {MOST_KEYS} PEM blocks")
        kind, text = block[1].decode(), block[0]
        try:
            if kind == "CERTIFICATE":
                yield x509.load_pem_x509_certificate(text).public_key()
            elif kind.endswith("PRIVATE KEY"):
                yield serialization.load_pem_private_key(text, None)
            elif kind.endswith("PUBLIC KEY"):
                yield serialization.load_pem_public_key(text)
        except (ValueError, TypeError, UnsupportedAlgorithm) as error:
            why = "it is encrypted" if isinstance(error, TypeError) else "it is damaged"
            raise ValueError(f"PEM block {number} ({kind}): {why}") from error


def _base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _number(value: int, size: int = 0) -> str:
    return _base64url(value.to_bytes(size or (value.bit_length() + 7) // 8, "big"))
