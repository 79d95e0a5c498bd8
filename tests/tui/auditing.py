"""What the tests of the audit's screens share: a log, made of a seed, and an app over it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

from ktui.audit.build import Wish
from ktui.audit.formats.log_record import LoggedRequest
from ktui.audit.reading.files import open_logs
from ktui.audit.tally import Tally
from ktui.core.prediction.sizes import ResourceSize
from ktui.tui.audit.app import AuditApp
from ktui.tui.audit.log_reading import Progress, Reading
from tests.unit.audit.logs import audit_event, copies, traffic

from .asking import until

NOW = datetime(2026, 11, 1, tzinfo=UTC)
AT = 1_787_000_060_000_000
HOSTILE = "evil\x1b[31m[red]\u202eagent/1.0"
SIZES = {
    "pods": ResourceSize(100_000, 1_400_000_000),
    "namespaces": ResourceSize(200, 90_000),
    "nodes": ResourceSize(2_000, 9_000_000),
    "secrets": ResourceSize(3_000, 30_000_000),
    "endpoints": ResourceSize(1_200, 4_000_000),
    "leases.coordination.k8s.io": ResourceSize(2_100, 900_000),
}
PAGES = "/api/v1/pods?limit=500"


def write_log(directory: Path) -> Path:
    """3,000 lines of all formats, a client that pages through all pods, and one that means harm."""
    lines = list(islice(traffic(1), 3_000))
    lines += copies(audit_event(LoggedRequest("list", PAGES, "pager/2.0", "carol", AT, 2_400_000, 200)), 40)
    bad = LoggedRequest("list", "/api/v1/services?limit=\x1b[2J", HOSTILE, "\x1b[1mmallory", AT, 700, 400)
    lines += copies(audit_event(bad), 3)
    path = directory / "audit.log"
    path.write_bytes(b"\n".join(lines) + b"\n")
    return path


def audit_app(
    *paths: Path,
    version: str = "1.30",
    sizes: Mapping[str, ResourceSize] = SIZES,
    reading: Reading | None = None,
) -> AuditApp:
    """No timers; the log is read as soon as the app runs."""
    opened = reading or Reading(lambda: open_logs([str(path) for path in paths]), Tally(NOW), lambda: 0.0)
    wish = Wish(version, {}, sizes, "sizes.json" if sizes else "")
    return AuditApp(opened, wish, start_timers=False)


class HeldReading(Reading):
    """Has read a third, and reads no further until it is stopped."""

    def __init__(self) -> None:
        super().__init__(lambda: open_logs([]), Tally(NOW), lambda: 0.0)
        self._stopping = threading.Event()

    def run(self) -> None:
        self._stopping.wait()

    def stop(self) -> None:
        super().stop()
        self._stopping.set()

    def progress(self) -> Progress:
        return Progress("/var/log/kubernetes/audit.log", 970_000_000, 2_900_000_000, 31.0, 1_204_331, 212, 3)


async def read(pilot: Any) -> None:
    """Wait until a report, or why there is none, is shown."""
    await until(pilot, lambda: pilot.app.audit.shown != "reading")
    await pilot.pause()


def reading_then(*keys: str) -> Callable[[Any], Any]:
    """Wait for the report, then press keys, each when the one before has had its effect."""

    async def run(pilot: Any) -> None:
        await read(pilot)
        for key in keys:
            await pilot.press(key)
            await pilot.pause()

    return run
