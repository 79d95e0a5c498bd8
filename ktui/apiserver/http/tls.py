"""The server's self-signed certificate, reused while it is valid."""

from __future__ import annotations

import datetime
import fcntl
import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from ktui.private_file import write_private

LIFETIME = datetime.timedelta(days=365)
# A certificate that expires soon is replaced, so that a session never outlives it.
RENEW_BEFORE = datetime.timedelta(days=7)
ALWAYS = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True, slots=True)
class TlsFiles:
    """A certificate chain and its key, as PEM files."""

    cert: Path
    key: Path


def ensure_certificate(directory: Path, host: str) -> TlsFiles:
    """Return certificate and key for `host` and loopback, mode 0600 in 0700, reused while valid."""
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    directory.chmod(0o700)
    files = TlsFiles(directory / "tls.crt", directory / "tls.key")
    names = list(dict.fromkeys([host, *ALWAYS]))
    if not _usable(files, names, _now()):
        _write(files, *_make(names, _now()))
    return files


def lend_certificate(kept: Path, own: Path, host: str) -> TlsFiles:
    """Copy the certificate for `host` from the shared directory `kept` into the server's directory `own`.

    Clients that trusted the server before a restart trust it afterwards. A running server keeps its copy when
    another server renews the shared certificate.
    """
    kept.mkdir(mode=0o700, parents=True, exist_ok=True)
    with (kept / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        found = ensure_certificate(kept, host)
        certificate, key = found.cert.read_bytes(), found.key.read_bytes()
    own.mkdir(mode=0o700, parents=True, exist_ok=True)
    files = TlsFiles(own / found.cert.name, own / found.key.name)
    _write(files, certificate, key)
    return files


def load_key(files: TlsFiles) -> ec.EllipticCurvePrivateKey:
    """The certificate's key, which also signs service account tokens, so that these outlive a restart."""
    key = serialization.load_pem_private_key(files.key.read_bytes(), None)
    assert isinstance(key, ec.EllipticCurvePrivateKey)
    return key


def _now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC)


def _usable(files: TlsFiles, names: Sequence[str], now: datetime.datetime) -> bool:
    try:
        certificate = x509.load_pem_x509_certificate(files.cert.read_bytes())
        key = serialization.load_pem_private_key(files.key.read_bytes(), password=None)
        san = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except (OSError, ValueError, TypeError, UnsupportedAlgorithm, x509.ExtensionNotFound):
        return False
    if not isinstance(key, ec.EllipticCurvePrivateKey) or key.public_key() != certificate.public_key():
        return False
    covers = all(_general_name(name) in san for name in names)
    return covers and certificate.not_valid_before_utc <= now < certificate.not_valid_after_utc - RENEW_BEFORE


def _make(names: Sequence[str], now: datetime.datetime) -> tuple[bytes, bytes]:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "ktui")])
    others = (
        "content_commitment", "key_encipherment", "data_encipherment", "key_agreement", "crl_sign",
        "encipher_only", "decipher_only",
    )  # fmt: skip
    usage = x509.KeyUsage(digital_signature=True, key_cert_sign=True, **dict.fromkeys(others, False))
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(minutes=5))
        .not_valid_after(now + LIFETIME)
        .add_extension(x509.SubjectAlternativeName([_general_name(name) for name in names]), critical=False)
        # The certificate is its own authority: clients get it as their CA.
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(usage, critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return certificate.public_bytes(serialization.Encoding.PEM), private


def _general_name(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _write(files: TlsFiles, certificate: bytes, key: bytes) -> None:
    write_private(files.key, key)
    write_private(files.cert, certificate)
