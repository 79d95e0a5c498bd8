"""The cells of a row as they are sent at a given time."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from ktui.kube.resources import Resource
from ktui.kube.tables.table import table_row


def printed_cells(resource: Resource, obj: dict[str, Any], now: datetime) -> list[Any]:
    row = table_row(resource, obj).at(now.timestamp())
    cells: list[Any] = json.loads(row + b"null}")["cells"]
    return cells
