"""Objects in audit Events: what is kept, and what is too large."""

from __future__ import annotations

import pytest

from ktui.apiserver.call import Call
from ktui.apiserver.chain import MOST_LOGGED_BYTES
from ktui.kube.requestinfo import attributes_of, rules_verb
from ktui.requestlogs.audit_log import TRUNCATED, AuditEvent, event_of, keep_objects, with_objects

from .records import record_of

PODS = "/api/v1/namespaces/shop/pods"


def event(record: Call, stage: str = "ResponseComplete") -> AuditEvent:
    asked = attributes_of(record.info, rules_verb(record.info, record.verb))
    return event_of(record, asked, "RequestResponse", stage, 1_790_000_001.0, 36)


def logged(level: str) -> Call:
    record = record_of(PODS)
    keep_objects(record, level)
    return record


@pytest.mark.parametrize("level", ["None", "Metadata"])
def test_without_these_levels_nothing_is_kept(level: str) -> None:
    assert logged(level).objects is None


def test_a_list_is_kept_as_it_passes() -> None:
    record = logged("RequestResponse")
    assert record.objects is not None
    assert list(record.objects.copied(iter([b'{"items":', b"[{}]}"]))) == [b'{"items":', b"[{}]}"]
    assert with_objects(event(record), record, unmanaged=False).response_object == {"items": [{}]}


def test_what_is_too_large_is_left_out_and_said_so() -> None:
    record = logged("RequestResponse")
    assert record.objects is not None
    chunk = b" " * (MOST_LOGGED_BYTES // 2)
    assert len(list(record.objects.copied(iter([chunk] * 3)))) == 3
    found = with_objects(event(record), record, unmanaged=False)
    assert found.response_object is None
    assert found.annotations[TRUNCATED] == "true"


def test_the_first_stage_and_the_level_request_have_no_response() -> None:
    record = logged("Request")
    assert record.objects is not None
    record.objects.asked({"a": 1}, 7)
    record.objects.answered(b"{}")
    assert with_objects(event(record), record, unmanaged=False).response_object is None
    assert with_objects(event(record), record, unmanaged=False).request_object == {"a": 1}
    assert with_objects(event(record, "RequestReceived"), record, unmanaged=False).request_object is None


def test_managed_fields_of_objects_items_and_rows() -> None:
    record = logged("RequestResponse")
    assert record.objects is not None
    managed = b'{"metadata":{"name":"a","managedFields":[{}]}}'
    record.objects.answered(b'{"items":[%b],"rows":[{"object":%b},{"cells":[]}]}' % (managed, managed))
    found = with_objects(event(record), record, unmanaged=True).response_object
    bare = {"metadata": {"name": "a"}}
    assert found == {"items": [bare], "rows": [{"object": bare}, {"cells": []}]}
