"""The alarms of an etcd, each as a sentence with what to do about it."""

from __future__ import annotations

import re
from collections.abc import Iterable

_ALARM = re.compile(r"alarm:(\w+)")
_SENTENCES = {
    "NOSPACE": "its database has reached the quota (alarm NOSPACE); compact, defragment and disarm the alarm",
    "CORRUPT": "its members hold different data (alarm CORRUPT); replace the member that is wrong",
}


def alarm_of(errors: Iterable[str]) -> str:
    """Return why etcd refuses writes, from the errors of its Status; "" if it accepts them."""
    raised = {found[1] for text in errors for found in _ALARM.finditer(text)}
    return next((sentence for name, sentence in _SENTENCES.items() if name in raised), "")
