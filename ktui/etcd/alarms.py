"""Alarms of an etcd, and what to do about each."""

from __future__ import annotations

import re
from collections.abc import Iterable

_ALARM = re.compile(r"alarm:(\w+)")
_SAID = {
    "NOSPACE": "its database has reached the quota (alarm NOSPACE); compact, defragment and disarm the alarm",
    "CORRUPT": "its members hold different data (alarm CORRUPT); replace the member that is wrong",
}


def alarm_of(errors: Iterable[str]) -> str:
    """Why etcd refuses writes, by the errors of its Status; "" if it accepts them."""
    raised = {found[1] for text in errors for found in _ALARM.finditer(text)}
    return next((said for name, said in _SAID.items() if name in raised), "")
