"""What `ktui audit` finds in the recorded spans and logs of a real server, beside what was sent."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ktui.audit.reading.files import open_logs, read_logs
from ktui.audit.request_list import ListedRequest, RequestList
from ktui.audit.tally import TallyOptions
from tools.fidelity.recordings import TRACES, document
from tools.fidelity.tally import Tally

NAMES = ("1.36-default", "1.33-no-consistent-list")
NOW = datetime(2026, 11, 24, tzinfo=UTC)
SPANS, LOG, AUDIT = "otlp.jsonl.gz", "apiserver.log.gz", "audit.log.gz"
# Their bytes were counted after the client had unpacked them.
UNPACKED = ("first page", "continue")


def truth(recording: str) -> dict[str, dict[str, Any]]:
    """Return what was sent and answered, by Audit-ID."""
    found: dict[str, dict[str, Any]] = document(TRACES / recording / "truth.json")["requests"]
    return found


def listed(*paths: str | Path) -> list[ListedRequest]:
    """Return the requests of files, as `ktui audit --requests` prints them."""
    found: list[ListedRequest] = []
    requests = RequestList(TallyOptions(NOW), found.append)
    with open_logs([str(path) for path in paths]) as logs:
        read_logs(logs, requests, lambda *_: None)
    return found


def replay() -> Tally:
    """Compare each request of both recordings: by its spans, its klog trace, and all logs together."""
    tally = Tally("traces: requests of ktui audit")
    for recording in NAMES:
        directory = TRACES / recording
        spans, log = _by_id(directory / SPANS), _by_id(directory / LOG)
        together = _by_id(directory / LOG, directory / AUDIT, directory / SPANS)
        for audit_id, sent in truth(recording).items():
            request = f"{sent['verb']} {sent['path']}"
            category = f"{recording}: spans"
            tally.add(category, audit_id, request, _span_differences(spans.get(audit_id), sent))
            tally.add(
                f"{recording}: spans, audit, klog",
                audit_id,
                request,
                _differences(
                    together.get(audit_id), {name: sent[name] for name in ("user", "route", "path")}
                ),
            )
            if audit_id in log:  # only slow requests have one, and not each tells a route
                told = log[audit_id].route
                wrong = [] if told in ("", sent["route"]) else [f"route {told}, sent {sent['route']}"]
                tally.add(f"{recording}: klog", audit_id, request, wrong)
    return tally


def _by_id(*paths: Path) -> dict[str, ListedRequest]:
    return {request.audit_id: request for request in listed(*paths)}


def _span_differences(found: ListedRequest | None, sent: dict[str, Any]) -> list[str]:
    wanted = {name: sent[name] for name in ("route", "path", "status")}
    wanted |= {"user_agent": sent["agent"], "verb": sent["verb"].lower(), "source": "otlp"}
    if "bytes" in sent and sent["what"] not in UNPACKED:
        wanted["bytes"] = sent["bytes"]
    return _differences(found, wanted)


def _differences(found: ListedRequest | None, wanted: dict[str, Any]) -> list[str]:
    if found is None:
        return ["not found"]
    return [
        f"{name}: sent {value}, found {getattr(found, name)}"
        for name, value in wanted.items()
        if getattr(found, name) != value
    ]
