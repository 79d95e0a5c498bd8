"""Print the requests of `ktui audit --requests`."""

from __future__ import annotations

import msgspec

from ktui.audit.request_list import MOST, ListedRequest, RequestList
from ktui.cli.output import emit_json_text, warn
from ktui.core.format import integer

_encode = msgspec.json.encode


def emit_request(listed: ListedRequest) -> None:
    emit_json_text(_encode(listed).decode())


def problems(requests: RequestList) -> None:
    """Say on standard error what could not be read, and what could not be joined."""
    for file in requests.files:
        if why := file.problem or file.why_nothing:
            warn(f"{file.name}: {why}")
        elif file.malformed:
            warn(f"{file.name}: {integer(file.malformed)} records could not be read")
    if requests.overflowed:
        warn(f"more than {integer(MOST)} requests: those far apart in the logs are not joined")
