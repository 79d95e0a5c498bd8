"""Replays random requests, and keeps etcd in step with the recording, so that each difference stands alone.

Before each request etcd's revision is moved to the recorded one; after a write that was answered otherwise,
or left another object, the recorded server's keys are written into etcd.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from typing import Any

from tools.fidelity.client import Answer, Client, Watch
from tools.fidelity.gateway import Gateway
from tools.fidelity.recordings import FUZZ, GENERATED_ROWS, document, lines
from tools.fidelity.server import ServerError, Target
from tools.fidelity.step_answers import StepMasking, View, view, watch_view
from tools.fidelity.step_comparison import compare, compare_watch, is_judged, is_read, judged, same_bytes
from tools.fidelity.step_requests import Captured, Step, prepared
from tools.fidelity.tally import Tally
from tools.fidelity.values import Difference

CATEGORIES = {
    "reads": ("read-list", "read-get", "read-page", "read-watch", "read-real", "crd-use"),
    "interleaved": ("inter-write", "inter-watch", "inter-watch-derived"),
    "writes": (
        *("create", "update", "patch-merge", "patch-json", "patch-strategic", "apply", "status", "scale"),
        *("binding", "eviction", "finalize", "subresource-other", "delete", "deletecollection", "crd"),
    ),
    "stored": ("stored",),
    "paths": ("path", "method"),
}
BYTES = "bytes"
_GROUP = {category: group for group, categories in CATEGORIES.items() for category in categories}
_AGENT = "fuzz/1"
_COLD_TRIES, _COLD_SECONDS = 30, 0.4
_AGAIN_SECONDS = 0.1  # a read that differs is sent once more: caches may have been behind
_REWOUND_SECONDS = 0.03  # until caches have what was written past the server
_STEP_SECONDS = 0.01
_OPEN_SECONDS, _QUIET_OPEN_SECONDS = 0.6, 1.5  # for the status of the WATCHes, with and without writes
_SETTLED_SECONDS = 0.25  # until their initial events are out
_TAIL_SECONDS = 0.7  # for the events of the last write

Row = Mapping[str, Any]


def replay(target: Target, groups: Collection[str]) -> dict[str, Tally]:
    """Replay the random requests; return the groups' tallies, and that of BYTES.

    Reads of other groups are not sent.
    """
    run = _Replay(target, groups)
    run.warm()
    for row in lines(FUZZ / "corpus.jsonl.xz"):
        run.send(row)
    run.client.close()
    return {**run.tallies, BYTES: run.bytes}


class _Replay:
    def __init__(self, target: Target, groups: Collection[str]) -> None:
        self.client = Client(target.url, _AGENT)
        self.tallies = {group: Tally(f"random: {GENERATED_ROWS[group]}") for group in groups}
        self.bytes = Tally("random: answers of equal value that are the same bytes")
        self._gateway = Gateway(target.etcd_url)
        self._meta = document(FUZZ / "meta.json")
        address = target.url.rpartition("/")[2]
        self._masking = StepMasking(self._meta["base_rev"], self._meta["uids"], address)
        self._captured: dict[Any, Captured] = {}
        self._sequence: Any = None
        self._agrees = True  # the sequence so far

    def warm(self) -> None:
        """Ask once for each resource, so that every cache is filled."""
        self._gateway.remove_start_events()
        for root, resource, _ in self._meta["resources"]:
            self._ask({"method": "GET", "path": f"{root}/{resource}?limit=1"}, 0, Captured())

    def send(self, row: Row) -> None:
        """Send a row's requests and count their answers."""
        if row["s"] != self._sequence:
            self._sequence, self._agrees = row["s"], True
        captured = self._captured.setdefault(row["s"], Captured())
        if "clean" in row:
            self._clean(row)
            return
        if self._left_out(row["step"], row):
            return
        self._gateway.advance(row["rev"])
        try:
            if "watches" in row["step"]:
                self._watches(row, captured)
            else:
                self._agrees = self._request(row, captured)
        except ServerError:
            raise
        except Exception as error:  # hostile requests: whatever fails is a difference of this row
            self._agrees = False
            failure = [Difference("error", "value", None, repr(error))]
            self._count(row, "answer", row["step"], row["step"]["cat"], failure)

    def _left_out(self, step: Step, row: Row) -> bool:
        """Whether this is a read that nothing later depends on, of a group that is not asked for."""
        if _GROUP[step["cat"]] in self.tallies:
            return False
        if "watches" in step:
            return not step["during"]
        alone = step["method"] == "GET" and not row.get("delta") and not step.get("capture")
        return alone and step["cat"].startswith("read")

    def _clean(self, row: Row) -> None:
        """Delete what a sequence has made."""
        self._gateway.advance(row["rev"])
        for key in row["clean"]:
            self._gateway.delete(key)
        time.sleep(_STEP_SECONDS)

    def _request(self, row: Row, captured: Captured) -> bool:
        """Send a single request; return whether its answer agrees."""
        step, revision = row["step"], row["rev"]
        answer = self._ask(step, revision, captured)
        seen = view(answer, self._masking)
        found = compare(row["want"], seen, step)
        if found and is_read(step):
            time.sleep(_AGAIN_SECONDS)
            answer = self._ask(step, revision, captured)
            seen = view(answer, self._masking)
            found = compare(row["want"], seen, step)
        captured.keep(step.get("capture") or {}, answer)
        time.sleep(step.get("settle") or 0)
        stored_differs = self._stored(row, captured) if row.get("stored") else None
        self._count(row, "answer", step, step["cat"], found, row["want"], seen)
        if not row.get("par") and (row.get("delta") or row.get("stored") or not is_read(step)):
            both_written = (200 <= answer.status < 300) == (200 <= row["want"]["status"] < 300)
            kept = stored_differs is False and both_written
            agreed = (not found and not stored_differs) or kept
            if self._rewound(row, keep=agreed) and row.get("stored"):
                time.sleep(_REWOUND_SECONDS)
                captured.keep_object(self._read(row["stored"]["path"], revision, captured))
        return not found

    def _stored(self, row: Row, captured: Captured) -> bool:
        """Read the written object again; return whether it differs."""
        path, wanted = row["stored"]["path"], row["stored"]["want"]
        answer = self._read(path, row["rev"], captured)
        seen = view(answer, self._masking)
        found = compare(wanted, seen)
        captured.keep_object(answer)
        self._count(row, "stored", {"method": "GET", "path": path}, "stored", found, wanted, seen)
        return bool(found)

    def _watches(self, row: Row, captured: Captured) -> None:
        step, revision = row["step"], row["rev"]
        written = bool(step["during"])
        watches, ended, writes = self._watched(step, revision, captured)
        agrees = self._agrees
        for index, (write, wanted, answer) in enumerate(
            zip(step["during"], row.get("during_want") or [], writes, strict=False)
        ):
            seen = view(answer, self._masking)
            found = compare(wanted, seen)
            agrees = agrees and not found
            self._count(row, f"during {index}", write, write["cat"], found, wanted, seen)
        category = step["cat"] if agrees or not written else f"{step['cat']}-derived"
        for index, (asked, watch, end, wanted) in enumerate(
            zip(step["watches"], watches, ended, row["want"], strict=True)
        ):
            shown = watch_view(watch, self._masking, ended=end, written=written)
            self._count(row, f"watch {index}", asked, category, compare_watch(wanted, shown), None, shown)
        if written:
            self._rewound(row, keep=False)

    def _watched(
        self, step: Step, revision: int, captured: Captured
    ) -> tuple[list[Watch], list[bool], list[Answer]]:
        """Open the WATCHes, write, stop them; return them, which the server had ended, and the answers."""
        requests = [prepared({"method": "GET", **one}, revision, captured) for one in step["watches"]]
        watches = [Watch(self.client, request.target, request.headers) for request in requests]
        until = time.monotonic() + (_OPEN_SECONDS if step["during"] else _QUIET_OPEN_SECONDS)
        for watch in watches:
            watch.opened.wait(max(0.05, until - time.monotonic()))
        if step["during"]:
            time.sleep(_SETTLED_SECONDS)
        answers = []
        for write in step["during"]:
            answers.append(self._ask(write, revision, captured))
            self._gateway.advance(_next_ten(self._gateway.revision()))
            time.sleep(_STEP_SECONDS)
        until = time.monotonic() + step.get("tail", _TAIL_SECONDS)
        for watch in watches:
            watch.ended.wait(max(0.0, until - time.monotonic()))
        ended = [watch.ended.is_set() for watch in watches]
        for watch in watches:
            watch.stop()
        return watches, ended, answers

    def _ask(self, step: Step, revision: int, captured: Captured) -> Answer:
        """Send a step's request; again while a cache is cold."""
        request = prepared(step, revision, captured)
        for _ in range(_COLD_TRIES):
            answer = self.client.send(request.method, request.target, request.headers, request.body)
            cold = step.get("retry429") or "initializ" in answer.text[:400]
            if answer.status != 429 or not cold:
                break
            time.sleep(_COLD_SECONDS)
        return answer

    def _read(self, path: str, revision: int, captured: Captured) -> Answer:
        return self._ask({"method": "GET", "path": path}, revision, captured)

    def _rewound(self, row: Row, *, keep: bool) -> bool:
        """Bring etcd to what the recorded server left; return whether anything had to be written.

        `keep`: the answers agreed, so that keys which both have changed stay as they are.
        """
        recorded: dict[str, str | None] = row.get("delta") or {}
        if not recorded and self._gateway.revision() == row["rev"]:
            return False
        here = self._gateway.changes(row["rev"])
        wanted: dict[str, str | None] = {}
        for key in recorded.keys() | here.keys():
            both = key in recorded and key in here
            if keep and both and (recorded[key] is None) == (here[key] is None):
                continue
            wanted[key] = recorded[key] if key in recorded else self._gateway.value_at(key, row["rev"])
        return self._gateway.apply(wanted)

    def _count(
        self,
        row: Row,
        part: str,
        step: Step,
        category: str,
        found: list[Difference],
        wanted: View | None = None,
        seen: View | None = None,
    ) -> None:
        """Count an answer, unless it is one that ktui does not serve or about which real servers differed."""
        tally = self.tallies.get(_GROUP[category])
        if tally is None or part in row.get("unstable", ()) or not is_judged(step):
            return
        name = f"{category} {row['s']}/{row['i']} {part}"
        request = f"{step.get('method', 'WATCH')} {step['path']} {step.get('query') or ''}"
        tally.add(category, name, request, judged(found, step, wanted, seen))
        if not found and wanted is not None and seen is not None:
            same = same_bytes(wanted, seen)
            if same is not None:
                self.bytes.add(category, name, request, [] if same else ["the order of members, or spaces"])


def _next_ten(revision: int) -> int:
    return ((revision + 4) // 10 + 1) * 10
