"""Options of writes and deletions, and what upstream says of those that are wrong."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ktui.apiserver.http.request import Request
from ktui.kube.status import StatusError
from ktui.wire.stored_codec import StoredCodec
from ktui.writes.options import DeleteOptions, delete_options, write_options
from tests.unit.writes.bodies import sent

UID = "11111111-2222-3333-4444-555555555555"
ALL = 'supported values: "All"'


def request(query: str = "") -> Request:
    async def receive() -> dict[str, Any]:
        return {"type": "http.request"}

    return Request({"method": "DELETE", "path": "/", "query_string": query.encode(), "headers": []}, receive)


def deletion(query: str = "", body: Any = None) -> DeleteOptions:
    raw = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
    return delete_options(request(query), sent(raw), StoredCodec().go_mismatch)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("dryRun=Some", f'dryRun: Unsupported value: ["Some"]: {ALL}'),
        ("dryRun=", f'dryRun: Unsupported value: [""]: {ALL}'),
        ("dryRun=All&dryRun=x", f'dryRun: Unsupported value: ["All","x"]: {ALL}'),
        (
            f"fieldManager={'m' * 129}&dryRun=y&fieldValidation=z",
            "[fieldManager: Too long: may not be more than 128 bytes, "
            f'dryRun: Unsupported value: ["y"]: {ALL}, '
            'fieldValidation: Unsupported value: "z": supported values: "", "Ignore", "Strict", "Warn"]',
        ),
    ],
)
def test_wrong_options_are_all_told_at_once(query: str, message: str) -> None:
    with pytest.raises(StatusError) as caught:
        write_options(request(query), "CreateOptions")
    assert caught.value.code == 422
    assert caught.value.message == f'CreateOptions.meta.k8s.io "" is invalid: {message}'


@pytest.mark.parametrize(
    ("query", "body", "code", "message"),
    [
        ("propagationPolicy=", None, 422, 'propagationPolicy: Unsupported value: ""'),
        ("gracePeriodSeconds=", None, 400, 'strconv.ParseInt: parsing "": invalid syntax'),
        ("", {"dryRun": ["x"]}, 422, f'dryRun: Unsupported value: ["x"]: {ALL}'),
        (
            "",
            {"dryRun": "All"},
            400,
            "json: cannot unmarshal string into Go struct field DeleteOptions.dryRun of type []string",
        ),
        (
            "",
            {"preconditions": 5},
            400,
            "json: cannot unmarshal number into Go struct field DeleteOptions.preconditions of type "
            "v1.Preconditions",
        ),
        ("", b" ", 400, "couldn't get version/kind; json parse error: unexpected end of JSON input"),
        ("", [], 400, "json: cannot unmarshal array into Go value of type struct"),
        ("", {"propagationPolicy": "Bogus", "dryRun": ["x"]}, 422, '"nil", dryRun: Unsupported value: ["x"]'),
        ("", {"propagationPolicy": "Orphan", "orphanDependents": True}, 422, "cannot be both set"),
    ],
)
def test_what_no_deletion_can_mean(query: str, body: Any, code: int, message: str) -> None:
    with pytest.raises(StatusError) as caught:
        deletion(query, body)
    assert caught.value.code == code
    assert message in caught.value.message


def test_a_deletion_may_be_told_by_the_query_or_by_the_body() -> None:
    assert deletion(f"uid={UID}&gracePeriodSeconds=-1") == DeleteOptions(uid=UID, grace_seconds=1)
    assert deletion("propagationPolicy=Orphan", b"null") == DeleteOptions()
    assert deletion("", {"dryRun": ["All"], "orphanDependents": False}) == DeleteOptions(
        True, policy="Background"
    )


def test_the_answer_to_a_long_manager_is_not_quadratic() -> None:
    with pytest.raises(StatusError) as caught:
        write_options(request("fieldManager=" + "%01" * 20_000), "CreateOptions")
    assert len(caught.value.message) < 200_000
