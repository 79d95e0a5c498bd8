"""Run a workload for a limited time, and add up what the server counted."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial

from ktui.client.api import ApiClient
from ktui.client.connection import ClientError, ServerConnection
from ktui.client.ktui_api import KtuiApi
from ktui.contract.faults import Fault, TimedFault
from ktui.contract.paths import Rules
from ktui.supervision import stop
from ktui.workloads.running.account import Account
from ktui.workloads.running.fleet import Fleet
from ktui.workloads.running.knobs import Knobs, WorkloadError
from ktui.workloads.running.workload import LoadContext, Workload, read_cluster

# Seconds for the server to end requests of clients that have gone: without progress, and in total.
SETTLE_SECONDS, MOST_SETTLE_SECONDS = 15.0, 120.0
AGAIN_SECONDS = 0.1  # seconds between attempts to reach a server that was killed
MOST_MARKER = 200  # characters
SLICES = 4  # of each side of a comparison: A B A B A B A B

Revive = Callable[[float], Awaitable[None]]


@dataclass(slots=True)
class RunVariant:
    """One side of a comparison, or the whole run (`name` "")."""

    name: str
    knobs: Knobs
    context: LoadContext = field(init=False)  # from the beginning of the run on
    seconds: dict[str, float] = field(default_factory=dict)  # by phase


class Run:
    """One run of a workload at a server. Call `go` once; then `account` and `variants` have the results."""

    def __init__(
        self, workload: Workload, variants: Sequence[Knobs], client: ApiClient, *, real: bool,
        faults: Sequence[TimedFault] = (), revive: Revive | None = None,
        replica: ServerConnection | None = None,
    ) -> None:  # fmt: skip
        """`faults` begin at their time in each slice of the run; `revive` restarts a killed server.

        `replica` is a second server over the same etcd.
        """
        self.workload = workload
        self.faults = faults
        self.markers: list[str] = []  # knobs and faults used since the last line of the stream
        self._revive = revive
        self._replica = Fleet(replica) if replica is not None else None
        self._injected = False
        self._server_ended = False
        self.id = secrets.token_hex(3)
        names = [""] if len(variants) == 1 else [chr(ord("A") + place) for place in range(len(variants))]
        self.variants = [RunVariant(name, knobs) for name, knobs in zip(names, variants, strict=True)]
        self.client = client
        self.real = real
        self.account = Account(self.id)
        self.began = 0.0
        self.seconds = 0.0
        self.problems: list[str] = []
        self.waiting, self.waited = 0, 0.0  # requests without an answer at the end, seconds of the longest
        self.ended = ""  # why it ended: "complete", "stopped" or "time"
        self._stopping = asyncio.Event()
        self._following = Rules("", {})
        self.current = self.variants[0]
        self._phase_began: float | None = None  # None while no time is counted

    @property
    def version(self) -> str:
        return self._following.kube_version

    async def go(self, seconds: float, beside: Callable[[], Awaitable[None]] | None = None) -> None:
        """Run for at most `seconds`, with `beside` running until then; raise ClientError."""
        for kind in {*self.workload.faults, *(fault.kind for _, fault in self.faults)}:
            await self._check_fault(kind)
        if not self.real:
            self._following = await KtuiApi(self.client).rules()
        rules = self._following  # to restore them at the end
        fleet = Fleet(self.client.connection, impersonates=not self.real)
        await self._prepare(fleet)
        telemetry = await self._follow_telemetry()
        watcher = None if beside is None else asyncio.ensure_future(beside())
        try:
            self.began = time.monotonic()
            await self._run_variants(seconds)
        finally:
            self.seconds = time.monotonic() - self.began if self.began else 0.0
            await fleet.close()
            if self._replica is not None:
                await self._replica.close()
            with suppress(TimeoutError):  # the summary then says that some are missing
                async with asyncio.timeout(SETTLE_SECONDS):
                    last = await self._mark(f"ends ({self.id})")
                if telemetry is not None:
                    await self.account.settled(last, SETTLE_SECONDS, MOST_SETTLE_SECONDS)
            await stop(telemetry, watcher)
            followed = self._following  # for the summary
            with suppress(ClientError):
                await self._follow_rules(rules)
            self._following = followed

    async def _run_variants(self, seconds: float) -> None:
        slices = [(variant, seconds) for variant in self.variants]
        if len(self.variants) > 1:
            each = seconds / (SLICES * len(self.variants))
            slices = [(variant, each) for _ in range(SLICES) for variant in self.variants]
        for variant, most in slices:
            if self._stopping.is_set():
                return
            self.current = variant
            if len(self.variants) > 1:
                await self._mark(f"turn of {variant.name}")
            await self._set_version(variant)
            await self._run_slice(variant, most)

    async def _run_slice(self, variant: RunVariant, seconds: float) -> None:
        self._phase_began = time.monotonic()
        work = asyncio.ensure_future(self.workload.run(variant.context))
        asked = asyncio.ensure_future(self._stopping.wait())
        faults = [asyncio.ensure_future(self._strike(at, fault)) for at, fault in self.faults]
        try:
            await asyncio.wait({work, asked}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            self.ended = "complete" if work.done() else "stopped" if asked.done() else "time"
            self.waiting, self.waited = max((self.waiting, self.waited), self.account.waiting())
        finally:
            asked.cancel()
            await stop(*faults)
            await _end(work)
            if self._injected:
                with suppress(ClientError):
                    await KtuiApi(self.client).end_faults()
            self._end_phase(variant, counts=False)

    def stop(self) -> None:
        """End the run now; the summary covers the time until now."""
        self._stopping.set()

    def _end_phase(self, variant: RunVariant, *, counts: bool) -> None:
        """Add the time of the workload's phase; `counts`: the next one begins now."""
        now, phase = time.monotonic(), variant.context.phase
        if self._phase_began is not None:
            variant.seconds[phase] = variant.seconds.get(phase, 0.0) + now - self._phase_began
        self._phase_began = now if counts else None

    async def _prepare(self, fleet: Fleet) -> None:
        cluster = await read_cluster(self.client)
        for variant in self.variants:
            context = variant.context = LoadContext(
                self.workload.name, self.id, variant.name, variant.knobs, cluster, fleet, self.account
            )
            context.phase_ends = partial(self._end_phase, variant, counts=True)
            context.stopped = partial(self._end_phase, variant, counts=False)
            context.replica = self._replica
            context.inject, context.follow_rules = self.inject, self._follow_rules
            context.memory["seconds"] = variant.seconds
            variant.knobs.changed = context.changed.set

    async def set(self, name: str, text: str) -> None:
        """Change a knob of the running variant, which begins a phase; raise WorkloadError or ClientError."""
        self.current.knobs.find(name).parse(text)
        self.current.context.begin(f"{name}={text}")
        self.current.knobs.set(name, text)
        await self._mark(f"{name}={text}")
        if name == "version":
            await self._set_version(self.current)

    async def _mark(self, text: str) -> str:
        """Add a marker to this run's stream and the telemetry; return its text, "" without telemetry."""
        self.markers.append(text)
        marker = f"{self.workload.name}: {text}"[:MOST_MARKER]
        if not self.real:
            with suppress(ClientError):  # it has ended
                await KtuiApi(self.client).mark(marker)
                return marker
        return ""

    # Faults.

    async def _check_fault(self, kind: str) -> None:
        """Raise WorkloadError unless this fault may be injected into the server."""
        info = None if self.real else await KtuiApi(self.client).info()
        if info is None or info.etcd_kind != "embedded":
            raise WorkloadError(
                f"the fault {kind} is only for an embedded etcd that ktui started: leave out --attach"
            )
        if kind == "kill" and self._revive is None:
            raise WorkloadError("the fault kill is for a server of the run's own: leave out --attach")

    async def fault(self, fault: Fault) -> None:
        """Inject a fault: its start and end begin phases. Raises ValueError, WorkloadError, ClientError."""
        fault = fault.checked()
        await self._check_fault(fault.kind)
        context = self.current.context
        context.begin(fault.kind)
        await self._inject(fault)
        if not fault.seconds:
            return
        if fault.kind != "kill":  # otherwise it is over: the server runs again
            await asyncio.sleep(fault.seconds)
        if context.phase == fault.kind:
            context.begin(f"after {fault.kind}")
        self.markers.append(f"{fault.kind} ends")

    async def _inject(self, fault: Fault) -> None:
        self._injected = True
        self._server_ended = fault.kind == "kill"
        self.markers.append(str(fault))
        await KtuiApi(self.client).inject(fault)
        if fault.kind == "kill" and self._revive is not None:
            await self._revive(fault.seconds)
            rules = self._following
            await KtuiApi(self.client).follow_rules(rules.kube_version, rules.feature_gates)

    async def inject(self, fault: Fault) -> None:
        """Begin a workload's own fault; the reason of a failure is added to the summary's remarks."""
        checked = fault.checked()
        with self._refusal_noted(fault):
            await self._check_fault(checked.kind)
            await self._inject(checked)

    async def _strike(self, at: float, fault: Fault) -> None:
        await asyncio.sleep(at)
        with self._refusal_noted(fault):
            await self.fault(fault)

    @contextmanager
    def _refusal_noted(self, fault: Fault) -> Iterator[None]:
        try:
            yield
        except (WorkloadError, ClientError) as error:
            if (problem := f"the fault {fault} was not injected: {error}") not in self.problems:
                self.problems.append(problem)

    # The server.

    async def _follow_telemetry(self) -> asyncio.Task[None] | None:
        if self.real:
            return None
        ready = asyncio.Event()

        async def follow() -> None:
            while True:
                try:
                    async for batch in self.client.telemetry():
                        self.account.take(batch)
                        ready.set()
                except ClientError:
                    if not self._server_ended:
                        raise
                self.account.server_ended()
                await asyncio.sleep(AGAIN_SECONDS)

        task = asyncio.create_task(follow(), name="the workload's telemetry")
        waiting = asyncio.create_task(ready.wait())
        await asyncio.wait({task, waiting}, return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        if task.done():
            task.result()
        return task

    async def _set_version(self, variant: RunVariant) -> None:
        wanted = variant.knobs.text("version")
        if wanted and not self.real and wanted != self.version:
            await self._follow_rules(Rules(wanted, {}))

    async def _follow_rules(self, rules: Rules) -> None:
        if rules != self._following and not self.real:
            self._following = await KtuiApi(self.client).follow_rules(rules.kube_version, rules.feature_gates)


async def _end(work: asyncio.Future[None]) -> None:
    work.cancel()
    await asyncio.wait({work})
    if not work.cancelled() and (error := work.exception()) is not None:
        raise error
