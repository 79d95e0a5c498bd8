"""Rules of requests to sign a certificate, and of the certificates that answer them."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable, Iterator

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.x509 import InvalidVersion, load_der_x509_certificate, load_der_x509_csr

from ktui.kube.fielderrors import FieldError, invalid, required, too_long
from ktui.kube.golang.formatting import quote
from ktui.kube.golang.pem import pem_blocks
from ktui.kube.json_trees import Obj
from ktui.kube.names import dns_label_faults, subdomain_faults
from ktui.writes.validation.values.checks import Rows, demand, has, listed, repeated

_USAGES = (
    "any", "cert sign", "client auth", "code signing", "content commitment", "crl sign",
    "data encipherment", "decipher only", "digital signature", "email protection", "encipher only",
    "ipsec end system", "ipsec tunnel", "ipsec user", "key agreement", "key encipherment",
    "microsoft sgc", "netscape sgc", "ocsp signing", "s/mime", "server auth", "signing", "timestamping",
)  # fmt: skip
_TOO_SHORT = "may not specify a duration less than 600 seconds (10 minutes)"
_UNSIGNED = (
    (rsa.RSAPublicKey, "crypto/rsa: verification error"),
    (ec.EllipticCurvePublicKey, "x509: ECDSA verification failure"),
    (ed25519.Ed25519PublicKey, "x509: Ed25519 verification failure"),
)


def _request(obj: Obj) -> Iterator[FieldError]:
    encoded = (obj.get("spec") or {}).get("request")
    if why := _request_fault(b64decode(encoded or "")):
        yield invalid(".spec.request", encoded, why)


def _request_fault(text: bytes) -> str:
    """Return why a request cannot be read, or is not signed with its key (upstream: validateCSR)."""
    block = next(pem_blocks(text), None)
    if block is None or block.kind != "CERTIFICATE REQUEST":
        return "PEM block type must be CERTIFICATE REQUEST"
    try:
        request = load_der_x509_csr(block.data)
        if request.is_signature_valid:
            return ""
        key = request.public_key()
    except (ValueError, InvalidVersion, UnsupportedAlgorithm) as error:
        return str(error)
    return next((why for kind, why in _UNSIGNED if isinstance(key, kind)), "x509: invalid signature")


def certificate_fault(text: bytes) -> str:
    """Return what is wrong with issued certificates (upstream: validateCertificate)."""
    found = False
    for block in pem_blocks(text):
        found = True
        if block.kind != "CERTIFICATE":
            return f"only CERTIFICATE PEM blocks are allowed, found {quote(block.kind)}"
        if block.has_headers:
            return "no PEM block headers are permitted"
        if not block.data:
            return "found CERTIFICATE PEM block containing 0 certificates"
        try:
            load_der_x509_certificate(block.data)
        except (ValueError, InvalidVersion):
            return "x509: malformed certificate"
    return "" if found or not text else "must contain at least one CERTIFICATE PEM block"


_LEGACY_SIGNER, _SIGNER_FORM = "kubernetes.io/legacy-unknown", "example.com/signer-name"
_LONGEST_DOMAIN = 253
_LONGEST_SIGNER = _LONGEST_DOMAIN + (253 + 63 + 1) + 1


def signer_name(name: str) -> Iterator[FieldError]:
    """Check the name of a signer: a domain and a path (upstream: ValidateSignerName)."""
    domain, _, path = name.partition("/")
    if not name:
        yield required("")
    elif name == _LEGACY_SIGNER:
        yield invalid("", name, "the legacy signerName is not allowed via this API version")
    elif name.count("/") != 1:
        why = f"must be a fully qualified domain and path of the form '{_SIGNER_FORM}'"
        yield invalid("", name, why)
    else:
        if len(domain.encode()) > _LONGEST_DOMAIN:
            yield too_long("", _LONGEST_DOMAIN)
        yield from _first_faults(domain, dns_label_faults)
        if "." not in domain:
            yield invalid("", domain, "should be a domain with at least two segments separated by dots")
        yield from _first_faults(path, subdomain_faults)
        if len(name.encode()) > _LONGEST_SIGNER:
            yield too_long("", _LONGEST_SIGNER)


def _first_faults(part: str, faults: Callable[[str], list[str]]) -> Iterator[FieldError]:
    """Yield what is wrong with the first wrong label of a signer's domain, or of its path."""
    label, found = next(((each, why) for each in part.split(".") if (why := faults(each))), ("", []))
    shown = quote(label)
    yield from (invalid("", part, f"validating label {shown}: {why}") for why in found)


KINDS: dict[str, Rows] = {
    "certificatesigningrequests.certificates.k8s.io": (
        ("", _request), ("spec", has("usages")), ("spec.usages[]", listed(*_USAGES)),
        ("spec.usages", repeated), ("spec.signerName:text", signer_name),
        ("spec.expirationSeconds", demand(lambda seconds: seconds >= 600, _TOO_SHORT)),
    ),
}  # fmt: skip
