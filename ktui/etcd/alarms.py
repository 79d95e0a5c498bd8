"""Alarms that an etcd raises by itself, and what each asks for."""

from __future__ import annotations

import re
from collections.abc import Iterable

_ALARM = re.compile(r"alarm:(\w+)")
_SAID = {
    "NOSPACE": "its database has reached the quota (alarm NOSPACE); compact, defragment and disarm the alarm",
    "CORRUPT": "its members hold different data (alarm CORRUPT); replace the member that is wrong",
}


def alarm_of(errors: Iterable[str]) -> str:
    """Why etcd takes no writes, by the errors of its Status; "" when it takes them."""
    raised = {found[1] for text in errors for found in _ALARM.finditer(text)}
    return next((said for name, said in _SAID.items() if name in raised), "")
