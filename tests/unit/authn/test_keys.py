"""Key files of service accounts' tokens, and what `ktui serve` says of bad ones."""

from __future__ import annotations

import datetime
from pathlib import Path

import jwt
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.x509.oid import NameOID

from ktui.authn.keys import PrivateKey, VerificationKey, read_private_key, read_public_keys
from ktui.cli.main import main

PEM = serialization.Encoding.PEM
OPTION = "--service-account-key-file"
RSA = rsa.generate_private_key(65537, 2048)
CURVES: tuple[ec.EllipticCurve, ...] = (ec.SECP256R1(), ec.SECP384R1(), ec.SECP521R1())
KEYS: list[PrivateKey] = [RSA, *(ec.generate_private_key(curve) for curve in CURVES)]


def private(key: PrivateKey, form: serialization.PrivateFormat) -> bytes:
    return key.private_bytes(PEM, form, serialization.NoEncryption())


def public(key: PrivateKey) -> bytes:
    return key.public_key().public_bytes(PEM, serialization.PublicFormat.SubjectPublicKeyInfo)


def certificate(key: PrivateKey) -> bytes:
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "sa")])
    now = datetime.datetime.now(datetime.UTC)
    made = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    made = made.serial_number(1).not_valid_before(now).not_valid_after(now + datetime.timedelta(days=1))
    return made.sign(key, hashes.SHA256()).public_bytes(PEM)


@pytest.mark.parametrize("key", KEYS, ids=["RS256", "ES256", "ES384", "ES512"])
def test_every_form_of_a_key_has_the_same_id(key: PrivateKey, tmp_path: Path) -> None:
    file = tmp_path / "keys"
    traditional, pkcs8 = serialization.PrivateFormat.TraditionalOpenSSL, serialization.PrivateFormat.PKCS8
    forms = [private(key, traditional), private(key, pkcs8), public(key), certificate(key)]
    file.write_bytes(b"a comment\n" + b"\n".join(forms))
    found = read_public_keys(file, OPTION)
    assert len(found) == 4 and len({each.key_id for each in found}) == 1
    file.write_bytes(forms[0])
    assert read_private_key(file, OPTION).public_key() == key.public_key()


@pytest.mark.parametrize("key", KEYS, ids=["RS256", "ES256", "ES384", "ES512"])
def test_a_web_key_verifies_what_the_key_signs(key: PrivateKey) -> None:
    verification = VerificationKey.of(key.public_key())
    token = jwt.encode({"sub": "x"}, key, verification.algorithm)
    document = verification.jwk()
    assert (document["alg"], document["kid"]) == (verification.algorithm, verification.key_id)
    assert jwt.decode(token, jwt.PyJWK(document), [verification.algorithm]) == {"sub": "x"}


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "has no private RSA or ECDSA key in PEM"),
        (public(RSA), "has no private RSA or ECDSA key in PEM"),
        (b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
         "cannot be read: PEM block 1 (PRIVATE KEY): it is damaged"),
        (RSA.private_bytes(
            PEM, serialization.PrivateFormat.PKCS8, serialization.BestAvailableEncryption(b"x")),
         "cannot be read: PEM block 1 (ENCRYPTED PRIVATE KEY): it is encrypted"),
        (private(ec.generate_private_key(ec.SECP256K1()), serialization.PrivateFormat.PKCS8),  # type: ignore[arg-type]
         "cannot be read: not an RSA key, nor an ECDSA key of P-256, P-384 or P-521"),
        (None, "cannot be read: [Errno 2] No such file or directory"),
    ],
    ids=["empty", "public", "damaged", "encrypted", "curve", "missing"],
)  # fmt: skip
def test_the_server_says_what_is_wrong_with_a_signing_key(
    content: bytes | None, why: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "key"
    if content is not None:
        file.write_bytes(content)
    option = "--service-account-signing-key-file"
    assert main(["serve", option, str(file)]) == 2
    said = capsys.readouterr().err
    assert f"{option} {file} {why}" in said, said


def test_other_kinds_of_public_keys_are_an_error(tmp_path: Path) -> None:
    file = tmp_path / "key"
    key = ed25519.Ed25519PrivateKey.generate().public_key()
    file.write_bytes(key.public_bytes(PEM, serialization.PublicFormat.SubjectPublicKeyInfo))
    with pytest.raises(ValueError, match=f"{OPTION} .* not an RSA key"):
        read_public_keys(file, OPTION)
    file.write_bytes(b"nothing")
    with pytest.raises(ValueError, match="has no RSA or ECDSA key in PEM"):
        read_public_keys(file, OPTION)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--service-account-issuer="], "--service-account-issuer should not be an empty string"),
        (["--service-account-issuer=a"] * 2, "--service-account-issuer a is already specified"),
        (["--service-account-issuer=://a"], "--service-account-issuer ://a has a ':' and is not a URL"),
        (
            ["--disable-admission-plugins=ServiceAccount,Priority"],
            "--disable-admission-plugins Priority: only",
        ),
    ],
)
def test_options_that_are_refused(words: list[str], why: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", *words]) == 2
    assert why in capsys.readouterr().err
