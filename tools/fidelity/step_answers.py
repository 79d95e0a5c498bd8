"""Answers to random requests in the form in which they were recorded: masked, and large ones summed up."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterable
from typing import Any

import yaml

from tools.fidelity.case_answers import INITIAL_EVENTS_END
from tools.fidelity.client import Answer, Watch
from tools.fidelity.masking import FUTURE, OLDEST, UUID, Masking
from tools.fidelity.values import digest

MOST_TEXT = 3000
_MADE_AT = "2026-11-22T00:00:00"
_RECORDED_ADDRESS = "127.0.0.1:<w3144>"  # its port was masked like a revision
_MOST_WRITES = 400_000  # revisions that the random writes can reach
_HEADERS = (
    *("content-type", "allow", "retry-after", "location", "cache-control"),
    *("x-content-type-options", "www-authenticate"),
)
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)")
_GENERATED = re.compile(r"\b(gen-[a-z0-9-]*?-)[bcdfghjklmnpqrstvwxz2456789]{5}\b")
_NUMBER = re.compile(r"(?<![\w.-])\d{4,7}(?![\d:.])(?![\w.-]*[a-z-])")
_RAW_TOKEN = re.compile(r'"continue":\s*"[^"]*"')
_RAW_REVISION = re.compile(r'("?resourceVersion"?:\s*"?)(\d+)')
_AGE = re.compile(r"(\d+[ydhms])+|<unknown>|<invalid>")
_SUMMED_LISTS = ("items", "rows", "groups", "resources")

View = dict[str, Any]


class _Loader(yaml.CSafeLoader):
    """YAML as Kubernetes writes it: times are texts."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in found if tag != "tag:yaml.org,2002:timestamp"]
    for first, found in yaml.CSafeLoader.yaml_implicit_resolvers.items()
}


class StepMasking(Masking):
    """Revisions after the snapshot keep their tens: `<w174>` is 1741 to 1750.

    `address`: the server's own, for which the recorded one stands.
    """

    def __init__(self, newest_recorded: int, uids: Iterable[str], address: str) -> None:
        super().__init__(_MADE_AT, uids, _AGE)
        self._newest = newest_recorded
        self._address = address

    def revision(self, text: str) -> str:
        if not text.isdigit():
            return text
        number = int(text)
        known = number <= self._newest or number >= FUTURE - 5
        return text if known else f"<w{(number - 1) // 10}>"

    def token_fields(self, fields: dict[str, Any]) -> dict[str, Any]:
        start = str(fields.get("start", "")).lstrip("/")
        return {
            "v": fields.get("v"),
            "rv": self.revision(str(fields.get("rv"))),
            "start": _GENERATED.sub(r"\1<gen>", start),
        }

    def text(self, text: str, name: str = "") -> str:
        text = _TIME.sub(self.time, UUID.sub(self.uid, text)).replace(self._address, _RECORDED_ADDRESS)
        text = OLDEST.sub(r"\1 (<oldest>)", _GENERATED.sub(r"\1<gen>", text))
        return _NUMBER.sub(self._number, text)

    def raw(self, content: bytes) -> bytes:
        """Mask the text of a JSON or YAML body, whose members stay in their order."""
        text = content.decode("utf-8", "surrogateescape").replace(self._address, _RECORDED_ADDRESS)
        text = _RAW_TOKEN.sub('"continue":"<c>"', text)
        text = _RAW_REVISION.sub(lambda found: found.group(1) + self.revision(found.group(2)), text)
        text = _GENERATED.sub(r"\1<gen>", _TIME.sub(self.time, UUID.sub(self.uid, text)))
        return text.encode("utf-8", "surrogateescape")

    def _number(self, found: re.Match[str]) -> str:
        text = found.group(0)
        written = self._newest < int(text) < self._newest + _MOST_WRITES
        return self.revision(text) if written else text


def view(answer: Answer, masking: StepMasking) -> View:
    """Return what is compared of an answer: `status`, `hdr`, and `json`, `pb`, `text` or `empty`.

    `raw` is the digest of the masked bytes of a JSON or YAML body; a Table in JSON has none, for its ages.
    """
    found: View = {"status": answer.status, "hdr": _headers(answer)}
    if not answer.body:
        found["empty"] = True
    elif "json" in answer.media_type:
        body = answer.json()
        if body is None and answer.body.strip() != b"null":
            found["text"] = answer.text[:MOST_TEXT]
        else:
            found["json"] = masking.value(body)
            if not isinstance(body, dict) or body.get("kind") != "Table":
                found["raw"] = digest(masking.raw(answer.body))
    elif "yaml" in answer.media_type:
        try:
            found["json"] = masking.value(yaml.load(answer.body.decode(), _Loader))
            found["raw"] = digest(masking.raw(answer.body))
        except (ValueError, yaml.YAMLError):
            found["text"] = f"unparsable yaml {digest(answer.body)}"
    elif "protobuf" in answer.media_type:
        found["pb"] = digest(answer.body)
    else:
        found["text"] = masking.text(answer.text)[:MOST_TEXT]
    return found


def _headers(answer: Answer) -> dict[str, Any]:
    found: dict[str, Any] = {name: answer.header(name) for name in _HEADERS if answer.header(name)}
    if warnings := answer.headers("warning"):
        found["warning"] = warnings
    flow = ("x-kubernetes-pf-flowschema-uid", "x-kubernetes-pf-prioritylevel-uid")
    found["pf"] = all(answer.header(name) for name in flow)
    found["audit"] = bool(answer.header("audit-id"))
    return found


def sums(body: Any) -> View:
    """Return the sums of a large body."""
    found: View = {}
    if isinstance(body, dict):
        found["json_meta"] = {name: body[name] for name in ("kind", "apiVersion", "metadata") if name in body}
        for name in _SUMMED_LISTS:
            if isinstance(body.get(name), list):
                found[f"json_{name}"] = [digest(one)[:8] for one in body[name]]
    return found


def watch_view(watch: Watch, masking: StepMasking, *, ended: bool, written: bool) -> View:
    """Return what is compared of a WATCH; `written`: whether there were writes meanwhile."""
    raw = watch.lines
    answer = watch.answer or Answer(-2, None, b"not opened")
    if raw and _is_object(raw):
        answer = Answer(answer.status, answer.raw_headers, b"".join(raw))
        raw = []
    events = [_event(line, masking) for line in raw]
    seen = view(answer, masking)
    seen.pop("empty", None)
    bookmarks = any(event["type"] == "BOOKMARK" for event in events)
    found: View = {"view": seen, "events": _without_bookmarks(events), "bm": bookmarks}
    if written:
        found["ended"] = ended and answer.status == 200
    return found


def _is_object(raw: list[bytes]) -> bool:
    """Whether these are the lines of one object, not of events."""
    try:
        first = json.loads(raw[0])
    except ValueError:
        return len(raw) > 1
    return isinstance(first, dict) and "kind" in first and "apiVersion" in first


def _event(line: bytes, masking: StepMasking) -> View:
    try:
        event = json.loads(line)
    except ValueError:
        return {"type": "UNPARSABLE", "len": len(line)}
    return {"type": event.get("type"), "object": masking.value(event.get("object") or {})}


def _without_bookmarks(events: list[View]) -> list[View]:
    """Drop periodic bookmarks; the one that ends the initial events stays, without its revision."""
    kept = []
    for event in events:
        if event["type"] == "BOOKMARK":
            metadata = event["object"].get("metadata") or {}
            if INITIAL_EVENTS_END not in (metadata.get("annotations") or {}):
                continue
            event = copy.deepcopy(event)
            event["object"]["metadata"]["resourceVersion"] = "<b>"
        kept.append(event)
    return kept
