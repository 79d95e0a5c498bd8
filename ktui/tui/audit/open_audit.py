"""`:audit FILE…`: the audit of logs on the dashboard, with counts and sizes from its server."""

from __future__ import annotations

import shlex
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from ktui.audit.build import Wish
from ktui.audit.reading.files import open_logs
from ktui.audit.tally import Tally
from ktui.client.connection import ClientError
from ktui.client.ktui_api import KtuiApi
from ktui.core.prediction.assumptions import server_behaviour
from ktui.core.prediction.sizes import ResourceSize, sizes_in_etcd
from ktui.tui.audit.log_reading import Reading
from ktui.tui.audit.screen import AuditScreen
from ktui.tui.dashboard import Dashboard


def open_audit(app: Dashboard, text: str) -> str:
    """Open the audit of the named files. Return an error, "" if there is none."""
    try:
        names = [str(Path(name).expanduser()) for name in shlex.split(text)]
    except ValueError:
        return "a quote is still open"
    if not names:
        return "of which log? audit FILE…"
    missing = next((name for name in names if not Path(name).exists()), None)
    if missing is not None:
        return f"there is no file {missing}"
    app.run_worker(_open(app, names), group="audit")
    return ""


async def _open(app: Dashboard, names: list[str]) -> None:
    sizes, sizes_from = await _sizes(app)
    rules = server_behaviour(app.state)
    wish = Wish(rules.version, rules.changed_gates, sizes, sizes_from)
    reading = Reading(partial(open_logs, names), Tally(datetime.now(UTC)))
    await app.push_screen(AuditScreen(reading, wish, over=True))


async def _sizes(app: Dashboard) -> tuple[dict[str, ResourceSize], str]:
    """Return sizes by resource, and their source; ({}, "") without them: costs are not estimated."""
    if app.client is None:
        return {}, ""
    try:
        return await sizes_in_etcd(KtuiApi(app.client).prefixes), "this server's etcd"
    except ClientError as error:
        app.notify(f"no sizes: {error}", severity="warning", markup=False)
        return {}, ""
