"""Trace what one request causes: requests that react to another's change, and their etcd transactions.

All of it comes from the server's telemetry. A controller's User-Agent has the resourceVersion of the event
that it reacts to (`caused-by/1234`); the change with that revision is the cause.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ktui.contract.events import AnyEvent, EtcdCall, RequestFinished, RequestStarted
from ktui.workloads.running.users import Tag, cause_of, tag_of

MOST_STEPS = 20_000
_WRITES = ("POST", "PUT", "PATCH", "APPLY", "DELETE", "DELETECOLLECTION")
_COMPARE = re.compile(r'target:MOD key:"[^"]*" mod_revision:(\d+)')
_PUT = re.compile(r"request_put:<key:")
_DELETE = re.compile(r"request_delete_range:<key:")
_LEASE = re.compile(r" lease:(\d+)")


@dataclass(slots=True)
class TraceStep:
    """One request: its client, the change that it reacts to, and its calls of etcd.

    `revision` is that of its own change, 0 if it wrote nothing; `at` and `ms` are the server's.
    """

    at: float
    tag: Tag
    agent: str
    verb: str
    path: str
    cause: int
    ms: float = 0.0
    status: int = 0
    error: str = ""
    revision: int = 0
    calls: list[EtcdCall] = field(default_factory=list)

    @property
    def txns(self) -> list[EtcdCall]:
        return [call for call in self.calls if call.op == "txn"]

    @property
    def is_event(self) -> bool:
        return self.verb == "POST" and self.path.endswith("/events")

    @property
    def leases(self) -> set[str]:
        return {found[1] for call in self.txns if (found := _LEASE.search(call.request))}

    def etcd(self) -> str:
        return ", ".join(short_call(call) for call in self.calls if call.op != "range") or "–"

    def document(self) -> dict[str, Any]:
        """Return the step as JSON, with etcd's own text of each call."""
        return {
            "at": self.at, "agent": self.agent, "what": self.tag.label, "verb": self.verb,
            "path": self.path, "caused_by": self.cause or None, "status": self.status, "error": self.error,
            "revision": self.revision or None, "ms": self.ms,
            "etcd": [
                {"op": call.op, "request": call.request, "revision": call.revision, "ms": call.ms}
                for call in self.calls
            ],
        }  # fmt: skip


def short_call(call: EtcdCall) -> str:
    """Return a transaction as `IF mod_revision=0 PUT +lease`, any other call as its name."""
    if call.op != "txn":
        return call.op
    compared = _COMPARE.search(call.request)
    success = call.request.partition("failure:")[0]
    does = "PUT" if _PUT.search(success) else "DELETE" if _DELETE.search(success) else "GET"
    lease = " +lease" if _LEASE.search(success) else ""
    return f"IF mod_revision={compared[1]} {does}{lease}" if compared else f"{does}{lease}"


class CausalTrace:
    """Collects a run's telemetry (`take`); `forests` returns, by phase, what its commands caused."""

    def __init__(self, run: str, variant: str) -> None:
        self._run = run
        self._variant = variant
        self._open: dict[int, TraceStep] = {}
        self._steps: list[TraceStep] = []

    def take(self, event: AnyEvent) -> None:
        match event:
            case RequestStarted():
                self._started(event)
            case EtcdCall() if event.request_id in self._open:
                step = self._open[event.request_id]
                step.calls.append(event)
                if event.op == "txn" and not event.error:
                    step.revision = max(step.revision, event.revision)
            case RequestFinished() if event.id in self._open:
                step = self._open.pop(event.id)
                step.ms, step.status, step.error = event.ms, event.status, event.error

    def _started(self, event: RequestStarted) -> None:
        tag = tag_of(event.user_agent, self._run)
        if tag is None or tag.variant != self._variant or len(self._steps) >= MOST_STEPS:
            return
        cause = cause_of(event.user_agent)
        if event.verb in _WRITES or cause:
            agent = event.user_agent.partition(" ")[0]
            step = TraceStep(event.at, tag, agent, event.verb, event.path, int(cause or 0))
            self._open[event.id] = step
            self._steps.append(step)

    def forests(self, command: str) -> dict[str, list[tuple[int, TraceStep]]]:
        """Return, by phase, (depth, step) of a command's newest request and of all requests that it caused.

        The command's label begins with `command`. Requests without a cause that follow it belong to it; each
        effect comes below its cause.
        """
        caused: dict[int, list[TraceStep]] = {}
        roots: dict[str, list[TraceStep]] = {}
        for step in self._steps:
            caused.setdefault(step.cause, []).append(step)
            if not step.cause:
                if step.tag.label.startswith(command):
                    roots[step.tag.phase] = []
                roots.setdefault(step.tag.phase, []).append(step)
        return {
            phase: [found for root in of for found in _below(root, caused, 0)]
            for phase, of in roots.items()
            if of[0].tag.label.startswith(command)
        }


def _below(
    step: TraceStep, caused: dict[int, list[TraceStep]], depth: int
) -> Iterator[tuple[int, TraceStep]]:
    yield depth, step
    if not step.revision:
        return
    for effect in sorted(caused.get(step.revision, ()), key=lambda effect: effect.at):
        # an effect has a newer revision than its cause
        if effect.cause < effect.revision or not effect.revision:
            yield from _below(effect, caused, depth + 1)
