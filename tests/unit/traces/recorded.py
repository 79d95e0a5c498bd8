"""Recordings of a real kube-apiserver 1.36.2: excerpts kept here, the whole where this machine has it."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from ktui.audit.reading.files import open_logs, read_logs
from ktui.audit.request_list import ListedRequest, RequestList
from ktui.audit.tally import TallyOptions

DATA = Path(__file__).parent / "data"
SHARED = Path(os.environ.get("KTUI_SHARED", Path(__file__).parents[3].parent / "shared"))
NAMES = ("1.36-default", "1.33-no-consistent-list")
NOW = datetime(2026, 11, 24, tzinfo=UTC)


def file(recording: str, name: str, *, whole: bool = False) -> str:
    """Return the path of a recording's file; skips the test where the whole recording is missing."""
    if not whole:
        return str(DATA / f"{recording}-{name}")
    found = SHARED / "traces" / recording / name
    if not found.exists():
        pytest.skip("no ../shared/traces")
    return str(found)


def truth(recording: str, *, whole: bool = False) -> dict[str, dict[str, Any]]:
    """Return what was sent and answered, by Audit-ID."""
    found: dict[str, Any] = json.loads(Path(file(recording, "truth.json", whole=whole)).read_text())
    return found["requests"] if whole else found


def listed(*paths: str) -> list[ListedRequest]:
    """Return the requests of files, as `ktui audit --requests` prints them."""
    found: list[ListedRequest] = []
    requests = RequestList(TallyOptions(NOW), found.append)
    with open_logs(list(paths)) as logs:
        read_logs(logs, requests, lambda *_: None)
    return found
