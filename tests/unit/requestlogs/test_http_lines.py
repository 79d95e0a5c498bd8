"""A line of httplog has the fields of its version, and ktui's own reader understands it."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime

import pytest

from ktui.apiserver.call import Call
from ktui.audit.formats import httplog
from ktui.audit.formats.log_record import LoggedRequest, Skips
from ktui.kube.requestinfo import attributes_of
from ktui.requestlogs import audit_log
from ktui.requestlogs.audit_log import event_of
from ktui.requestlogs.httplog import http_line

from .records import record_of

PODS = "/api/v1/namespaces/shop/pods"
END = 1_790_000_000.75
NOW = datetime(2026, 12, 1, tzinfo=UTC)


def line(record: Call, minor: int = 36, took: float = 0.25) -> str:
    written = http_line(record, minor, END, took).decode()
    return re.sub(r"^I\d{4} \d\d:\d\d:20\.750000 +\d+ httplog.go:\d+] ", "", written).rstrip("\n")


HEAD = f'URI="{PODS}?limit=5" latency="250ms" userAgent="probe/v1"'
LEVELS = 'apf_pl="global-default" apf_fs="global-default"'
SEATS = 'apf_iseats=4 apf_fseats=0 apf_additionalLatency="0s" apf_execution_time="238ms"'


@pytest.mark.parametrize(
    ("minor", "expected"),
    [
        (19, f'verb="GET" {HEAD} srcIP="10.0.0.7:5123" resp=200'),
        (22, f'verb="LIST" {HEAD} audit-ID="id-1" srcIP="10.0.0.7:5123" resp=200'),
        (23, f'verb="LIST" {HEAD} audit-ID="id-1" srcIP="10.0.0.7:5123" {LEVELS} resp=200'),
        (36, f'verb="LIST" {HEAD} audit-ID="id-1" srcIP="10.0.0.7:5123" {LEVELS} {SEATS} resp=200'),
    ],
)
def test_the_fields_of_each_version(minor: int, expected: str) -> None:
    record = record_of(PODS, query="limit=5")
    assert record.ticket is not None
    record.ticket.executed = 0.238
    assert line(record, minor) == f'"HTTP" {expected}'


def test_a_watch_holds_its_seats_until_it_is_live() -> None:
    record = record_of(PODS, query="watch=1")
    assert record.meter is not None
    assert record.ticket is not None
    record.meter.initial_ms = 3.5
    record.ticket.executed = 0.0036
    assert 'verb="WATCH"' in line(record)
    assert 'apf_init_latency="3.5ms" apf_execution_time="3.6ms" resp=200' in line(record)


def test_a_rejected_request_has_no_seats() -> None:
    record = record_of(PODS, status=429)
    record.ticket = None
    assert line(record).endswith(f'srcIP="10.0.0.7:5123" {LEVELS} resp=429')


def test_a_request_without_a_user_has_no_level() -> None:
    record = record_of(PODS, status=401)
    record.flow = None
    assert line(record).endswith('srcIP="10.0.0.7:5123" resp=401')


@pytest.mark.parametrize(
    ("method", "path", "media_type", "verb"),
    [
        ("PATCH", f"{PODS}/a", "application/apply-patch+yaml", "APPLY"),
        ("PATCH", f"{PODS}/a", "application/merge-patch+json", "PATCH"),
        ("DELETE", PODS, "", "DELETE"),
        ("HEAD", PODS, "", "LIST"),
        ("HEAD", f"{PODS}/a", "", "GET"),
        ("GET", "/healthz", "", "GET"),
    ],
)
def test_verbs(method: str, path: str, media_type: str, verb: str) -> None:
    record = record_of(path, method=method, headers={"content-type": media_type})
    assert line(record).startswith(f'"HTTP" verb="{verb}" ')


def test_the_reader_of_httplog_reads_it() -> None:
    record = record_of(PODS, query="limit=5", headers={"user-agent": 'ev"il\n/1'})
    read = httplog.read(http_line(record, 36, END, 0.25), NOW)
    assert isinstance(read, LoggedRequest)
    assert (read.verb, read.uri, read.agent, read.took, read.code, read.seats, read.id) == (
        "LIST", f"{PODS}?limit=5", 'ev"il\n/1', 250_000, 200, 4, "id-1"
    )  # fmt: skip
    assert httplog.read(http_line(record_of(PODS, method="POST"), 36, END, 0.25), NOW) is Skips.WRITES


def test_no_user_agent_reaches_a_terminal() -> None:
    """UTF-8 stays; C1 controls, which a terminal may obey, are escaped in both logs."""
    call = record_of(PODS, headers={"user-agent": "Größe \x9b31m\x7f\x1b"})
    assert 'userAgent="Größe \\u009b31m\\x7f\\x1b"' in line(call)
    written = audit_log._line(event_of(call, attributes_of(call.info, "list"), "Metadata", "Panic", END, 36))
    assert b'"userAgent":"Gr\xc3\xb6\xc3\x9fe \\u009b31m\\u007f\\u001b"' in written
    assert json.loads(written)["userAgent"] == "Größe \x9b31m\x7f\x1b"
