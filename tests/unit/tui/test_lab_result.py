"""What comes back: over HTTP, and by telemetry."""

import json

import pytest

from ktui.client.api import Fired
from ktui.telemetry.events import RequestFinished
from ktui.tui.model.lab import ListForm
from ktui.tui.model.lab_result import LabResult, accounted, answered, read_answer

PENDING = LabResult(
    number=1, label="fired", path="/api/v1/pods", form=ListForm(), predicted="cache", pending=True
)


def fired(status: int = 200, route: str = "cache", body: bytes | None = None, request: int = 7) -> Fired:
    return Fired(
        path="/api/v1/pods",
        status=status,
        headers={
            "x-ktui-route": route,
            "x-ktui-reason": "c.any any version will do",
            "x-ktui-cost": "fetched=20, evaluated=20, returned=3, etcd_gets=0, etcd_lists=0, seats=8",
            "x-ktui-request-id": str(request),
        },
        body_bytes=1000,
        first_byte_ms=1.5,
        total_ms=4.0,
        body=body,
    )


def page(token: str = "", rv: str = "90") -> bytes:
    meta = {"resourceVersion": rv, "continue": token, "remainingItemCount": 3}
    return json.dumps({"kind": "PodList", "metadata": meta, "items": [{"metadata": {"name": "a"}}]}).encode()


def test_an_answer_is_measured_from_both_sides() -> None:
    result = answered(PENDING, fired(body=page("next")))
    assert (result.route, result.reason_id, result.reason) == ("cache", "c.any", "any version will do")
    assert (result.rv, result.continue_token, result.remaining) == ("90", "next", 3)
    measures = result.measures
    assert (measures.bytes, measures.ms, measures.first_byte_ms) == (1000, 4.0, 1.5)
    assert (measures.fetched, measures.evaluated, measures.returned, measures.seats) == (20, 20, 3, 8)
    assert measures.etcd_keys is None
    assert result.ok
    assert not result.surprising
    assert not result.pending


@pytest.mark.parametrize(
    ("predicted", "status", "route", "surprising"),
    [
        ("cache", 200, "cache", False),
        ("cache", 200, "etcd", True),
        ("cache", 200, "cache,etcd", True),
        ("none", 422, "", False),
        ("cache", 422, "", True),
        ("", 200, "etcd", False),
        ("cache", 0, "", False),
    ],
)
def test_a_wrong_prediction_is_marked(predicted: str, status: int, route: str, surprising: bool) -> None:
    result = LabResult(1, "", "", ListForm(), predicted, status=status, route=route)
    assert result.surprising is surprising


def test_pages_add_up() -> None:
    first = answered(PENDING, fired(body=page("next")))
    both = answered(first, fired(route="etcd", body=page(""), request=8))
    assert both.route == "cache,etcd"
    assert both.request_ids == (7, 8)
    assert both.continue_token == ""
    assert (both.measures.bytes, both.measures.ms, both.measures.first_byte_ms) == (2000, 8.0, 1.5)
    assert (both.measures.returned, both.measures.seats, both.measures.requests) == (6, 8, 2)


def test_an_error_says_what_the_server_says() -> None:
    status = {"kind": "Status", "metadata": {"continue": "fresh"}, "message": "too old", "code": 410}
    result = answered(PENDING, fired(410, "etcd", json.dumps(status).encode()))
    assert (result.ok, result.error, result.continue_token) == (False, "too old", "fresh")


@pytest.mark.parametrize("body", [None, b"", b"k8s\0\n\x0c", b"{", b"[]", b'{"metadata": 3}'])
def test_a_body_that_is_no_json_list_tells_nothing(body: bytes | None) -> None:
    meta, message = read_answer(body)
    assert (meta.continue_token, message) == ("", "")


def test_plain_text_is_its_own_message() -> None:
    assert read_answer(b"Too many requests, please try again later.\n")[1].startswith("Too many requests")


def test_telemetry_adds_what_etcd_was_asked() -> None:
    result = answered(answered(PENDING, fired()), fired(request=8))
    one = RequestFinished(id=7, status=200, route="etcd", ms=1.0, etcd_keys=500, etcd_bytes=9, rv="88")
    assert accounted(result, [one]) is result  # the second is still on its way
    two = RequestFinished(id=8, status=200, route="etcd", ms=1.0, etcd_keys=20, etcd_bytes=1, rv="88")
    full = accounted(result, [one, two])
    assert (full.measures.etcd_keys, full.measures.etcd_bytes, full.rv) == (520, 10, "88")
    assert accounted(full, [one, two]) is full


def test_telemetry_tells_the_message_of_an_error_whose_body_was_not_kept() -> None:
    result = answered(PENDING, fired(504, "cache"))
    assert result.error == "HTTP 504"
    late = RequestFinished(id=7, status=504, route="cache", ms=3000.0, error="Too large resource version")
    assert accounted(result, [late]).error == "Too large resource version"
