"""Decisions about certificate signing requests, and their certificates, as a kube-apiserver 1.36 answers."""

from __future__ import annotations

from base64 import b64encode
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from ktui.kube.json_trees import Obj
from ktui.kube.resources import BUILTIN
from ktui.writes.before_update import UpdateContext, updated
from ktui.writes.managedfields.apply import Apply
from ktui.writes.subresource_parts import settle_status
from ktui.writes.validation.objects import value_errors
from ktui.writes.validation.statuses.kinds import status_errors

CSRS = "certificatesigningrequests.certificates.k8s.io"
APPROVAL = f"{CSRS}/approval"
KEY = ec.generate_private_key(ec.SECP256R1())
NAME = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "a")])
SINCE = datetime(2026, 11, 29, tzinfo=UTC)
PEM, DER = serialization.Encoding.PEM, serialization.Encoding.DER
CERTIFICATE = (
    x509.CertificateBuilder(NAME, NAME, KEY.public_key(), 1, SINCE, SINCE + timedelta(days=1))
    .sign(KEY, hashes.SHA256())
    .public_bytes(PEM)
)  # fmt: skip
REQUEST = x509.CertificateSigningRequestBuilder(NAME).sign(KEY, hashes.SHA256())
T = "2026-11-29T00:00:00Z"
ONE = 'supported values: "True"'
AT, CERT = "status.conditions", "status.certificate"
REMOVED = f"{AT}: Forbidden: updates may not remove a condition of type"
INVALID = f'{CERT}: Invalid value: "<certificate data>"'


def condition(kind: str, state: str = "True", **more: Any) -> Obj:
    return {"type": kind, "status": state, **more}


def conditions(*kinds: str) -> Obj:
    return {"conditions": [condition(kind) for kind in kinds]}


def certificate(pem: bytes) -> Obj:
    return {"certificate": b64encode(pem).decode()}


def block(kind: bytes, data: bytes) -> bytes:
    return b"-----BEGIN %s-----\n%s\n-----END %s-----\n" % (kind, b64encode(data), kind)


# (resource, old status, new status, the errors)
ROWS: list[tuple[str, Obj, Obj, list[str]]] = [
    (APPROVAL, {}, conditions("Approved", "Failed"), []),
    (APPROVAL, conditions("Approved"), conditions("Approved", "Other"), []),
    (
        APPROVAL, {}, {"conditions": [condition("Denied", "False"), {"type": "Failed"}, {"status": "yes"}]},
        [
            f'{AT}[0].status: Unsupported value: "False": {ONE}',
            f"{AT}[1].status: Required value",
            f"{AT}[2].type: Required value",
            f'{AT}[2].status: Unsupported value: "yes": supported values: "False", "True", "Unknown"',
        ],
    ),
    (
        APPROVAL, {}, conditions("Denied", "Approved", "Approved"),
        [
            f'{AT}: Invalid value: "Approved": Approved and Denied conditions are mutually exclusive',
            f'{AT}: Invalid value: "Approved": Approved and Denied conditions are mutually exclusive',
            f'{AT}[2].type: Duplicate value: "Approved"',
        ],
    ),
    (APPROVAL, conditions("Denied", "Approved"), conditions("Denied", "Approved"), []),
    (APPROVAL, conditions("A", "A", ""), conditions("A", "A", "", ""), []),
    (
        APPROVAL, conditions("Failed", "Denied"), {},
        [f'{REMOVED} "Denied"', f'{REMOVED} "Failed"'],
    ),
    (
        CSRS, {}, conditions("Denied", "Failed"),
        [f'{AT}: Forbidden: updates may not add a condition of type "Denied"'],
    ),
    (CSRS, {}, certificate(CERTIFICATE + b"text\n" + CERTIFICATE), []),
    (CSRS, certificate(CERTIFICATE), certificate(CERTIFICATE), []),
    (CSRS, certificate(b"x"), certificate(b"y"),
     [f"{CERT}: Forbidden: updates may not modify existing certificate content"]),
    (CSRS, certificate(CERTIFICATE), {},
     [f"{CERT}: Forbidden: updates may not modify existing certificate content"]),
    (CSRS, {}, certificate(b"x"), [f"{INVALID}: must contain at least one CERTIFICATE PEM block"]),
    (CSRS, {}, certificate(CERTIFICATE + block(b"KEY", b"x")),
     [f'{INVALID}: only CERTIFICATE PEM blocks are allowed, found "KEY"']),
    (CSRS, {}, certificate(block(b"CERTIFICATE", b"x")), [f"{INVALID}: x509: malformed certificate"]),
    (CSRS, {}, certificate(b"-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----"),
     [f"{INVALID}: found CERTIFICATE PEM block containing 0 certificates"]),
    (CSRS, {}, certificate(CERTIFICATE.replace(b"-\n", b"-\na: b\n\n", 1)),
     [f"{INVALID}: no PEM block headers are permitted"]),
]  # fmt: skip


@pytest.mark.parametrize(("resource", "old", "new", "errors"), ROWS)
def test_the_errors(resource: str, old: Obj, new: Obj, errors: list[str]) -> None:
    assert [str(error) for error in status_errors(resource, {"status": new}, {"status": old})] == errors


def test_times_are_set_where_they_are_missing() -> None:
    was = {"conditions": [condition("A", lastTransitionTime=T, lastUpdateTime=T), condition("B")]}
    for resource in (CSRS, APPROVAL):
        sent = [
            condition("A"),
            condition("A", "False"),
            condition("C", lastUpdateTime=T, lastTransitionTime=None),
        ]
        obj = {"status": {"conditions": sent}}
        settle_status(resource, {"status": was}, obj, 36)
        one, other, third = obj["status"]["conditions"]
        assert one["lastTransitionTime"] == T < one["lastUpdateTime"]
        assert other["lastTransitionTime"] == other["lastUpdateTime"] == one["lastUpdateTime"]
        assert third["lastUpdateTime"] == T < third["lastTransitionTime"]


def test_a_status_keeps_decisions() -> None:
    was = {"conditions": [condition("Approved", reason="a", lastUpdateTime=T, lastTransitionTime=T)]}
    for resource, reason in ((CSRS, "a"), (APPROVAL, "b")):
        obj = {"status": {"conditions": [condition("Approved", reason="b")]}}
        settle_status(resource, {"status": was}, obj, 36)
        assert obj["status"]["conditions"][0]["reason"] == reason


def test_a_request_is_signed_with_its_key() -> None:
    pem, der = REQUEST.public_bytes(PEM), REQUEST.public_bytes(DER)
    other = "PEM block type must be CERTIFICATE REQUEST"
    assert request_errors(pem) == request_errors(b"text\n" + pem) == []
    assert request_errors(b"text" + pem) == request_errors(block(b"KEY", b"x") + pem) == [other]
    changed = der[:-1] + bytes([der[-1] ^ 1])
    assert request_errors(block(b"CERTIFICATE REQUEST", changed)) == ["x509: ECDSA verification failure"]


def request_errors(pem: bytes) -> list[str]:
    spec = {"request": b64encode(pem).decode(), "signerName": "a.b/c", "usages": ["any"]}
    return [error.message.rpartition('": ')[2] for error in value_errors(CSRS, {"spec": spec})]


def stored(**metadata: Any) -> Obj:
    spec = {"signerName": "a.b/c"}
    kind = {"apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest"}
    return {**kind, "metadata": {"name": "A_b", "uid": "u", **metadata}, "spec": spec, "status": {}}


def test_versions_that_do_not_exist_are_errors_too() -> None:
    odd = REQUEST.public_bytes(DER).replace(b"\x02\x01\x00", b"\x02\x01\x09", 1)
    assert request_errors(block(b"CERTIFICATE REQUEST", odd)) == ["9 is not a valid CSR version"]
    odd = x509.load_pem_x509_certificate(CERTIFICATE).public_bytes(DER)
    odd = odd.replace(b"\xa0\x03\x02\x01\x02", b"\xa0\x03\x02\x01\x48", 1)
    new = {"status": certificate(block(b"CERTIFICATE", odd))}
    (error,) = status_errors(CSRS, new, {"status": {}})
    assert str(error) == f"{INVALID}: x509: malformed certificate"


def test_an_approval_changes_conditions_and_metadata_and_owns_what_was_sent() -> None:
    resource = BUILTIN.by_name(CSRS)
    assert resource is not None
    entry = {"operation": "Update", "apiVersion": "certificates.k8s.io/v1", "fieldsV1": {"f:spec": {}}}
    old = stored(managedFields=[entry])
    sent = {
        **stored(labels={"a": "b"}),
        "spec": {},
        "status": {**conditions("Approved"), **certificate(b"x")},
    }
    new = updated(old, sent, UpdateContext(resource, "", "A_b", "approval", "m", whole=True))
    assert new["metadata"]["labels"] == {"a": "b"} and new["spec"] == old["spec"]
    assert [*new["status"]] == ["conditions"] and new["status"]["conditions"][0]["lastUpdateTime"]
    (owned,) = (each for each in new["metadata"]["managedFields"] if each.get("manager") == "m")
    assert "lastUpdateTime" not in str(owned) and "f:certificate" not in str(owned)


def test_a_status_takes_conditions_without_an_owner() -> None:
    resource = BUILTIN.by_name(CSRS)
    assert resource is not None
    config = {"metadata": {"name": "A_b"}, "status": conditions("A")}
    apply = Apply(config, "m", resource, "status")
    assert apply.merged(stored())["status"] == conditions("A")
    empty = Apply({"metadata": {"name": "A_b"}, "status": {}}, "m", resource, "status")
    new = stored()
    empty.track(stored(), new, T)
    (owned,) = (each for each in new["metadata"]["managedFields"] if each["manager"] == "m")
    assert owned["fieldsV1"] == {"f:status": {}}
