"""Read one line of a log in any of the three formats."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime

import msgspec

from ktui.audit import auditlog, etcdlog, httplog
from ktui.audit.record import LoggedRequest, Malformed, SlowRequest, decoded

Record = LoggedRequest | SlowRequest | None

# `2026-08-23T08:55:54.33Z stderr F `: the prefix of each line by a container runtime.
_RUNTIME = re.compile(rb"\d{4}-\d\d-\d\dT\S+ std(?:out|err) [FP] ")
_KLOG = re.compile(rb"[IWEF]\d{4} \d\d:\d\d:\d\d")
_AUDIT = b'"auditID"'


class _Anything(msgspec.Struct):
    pass


_is_json = msgspec.json.Decoder(_Anything).decode


def line_reader(now: datetime) -> Callable[[bytes], Record]:
    """A function from a line to its content: None if it is not counted.

    It raises Malformed for a line in no known format. `now` bounds the year of klog lines.
    """

    def read(line: bytes) -> Record:
        if line[:1].isdigit() and (runtime := _RUNTIME.match(line)):
            line = line[runtime.end() :]
        if line[:1] == b"{":
            return _read_json(line)
        if httplog.MARK in line:
            return httplog.read(line, now)
        if not _belongs(line):
            raise Malformed("neither an audit Event, a klog line nor a JSON line of etcd")
        return None

    return read


def _read_json(line: bytes) -> Record:
    if _AUDIT in line:
        return auditlog.read(line)
    if etcdlog.APPLY in line or etcdlog.STATS in line:
        return etcdlog.read(line)
    decoded(_is_json, line, "valid JSON")
    return None


def _belongs(line: bytes) -> bool:
    """True for other klog lines and the indented lines of their stack traces."""
    return not line.strip() or line[:1] in (b"\t", b" ", b">") or _KLOG.match(line) is not None
