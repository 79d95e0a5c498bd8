"""deployment-chain: what `kubectl apply` of one Deployment causes, request by request.

Five small controllers run the Deployment as in a cluster; the causal trace shows every request, transaction,
event and lease that one kubectl command causes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from ktui.client.connection import ClientError
from ktui.core.format import figure, integer
from ktui.documents.limits import decode_json
from ktui.kube.json_trees import Obj
from ktui.workloads.behaviours.causal_trace import CausalTrace, TraceStep
from ktui.workloads.behaviours.client_reflector import ObjectInformer
from ktui.workloads.controllers.controller import (
    DEPLOYMENTS,
    LABEL,
    PODS,
    REPLICA_SETS,
    STRATEGIC,
    Chain,
    Controller,
    version_of,
)
from ktui.workloads.controllers.deployments import DeploymentController, ReplicaSetController
from ktui.workloads.controllers.pod_controllers import GarbageCollector, NodeKubelet, Scheduler
from ktui.workloads.demo.pods import MERGE
from ktui.workloads.running.account import Account
from ktui.workloads.running.knobs import Knob
from ktui.workloads.running.workload import FindingsTable, Fix, LoadContext, Workload

APPLY = "application/apply-patch+yaml"
MOST_ROWS = 80  # rows of one trace; JSON has all
QUIET_SECONDS = 0.5  # seconds after a command's goal is reached in which its effects still count

KNOBS = (
    Knob("replicas", 3, "pods of the Deployment; scaled to twice as many", least=1, most=100),
    Knob("kubelets", 3, "kubelets, each of a node of the cluster", least=1, most=50, former="nodes"),
    Knob("surge", "25%", "maxSurge of the rolling update: pods or percent"),
    Knob("unavailable", "25%", "maxUnavailable of the rolling update: pods or percent"),
    Knob("conflict", True, "whether another client changes the Deployment just before its status is written"),
    Knob("repeat_after", 10.0, "seconds until all of it is done again; 0: once", most=3_600, unit="s",
         former="again"),
)  # fmt: skip


class Kubectl:
    """The user: one command after the other, each waiting for its goal as `kubectl rollout status` does."""

    def __init__(self, chain: Chain) -> None:
        self._chain = chain
        self._context = chain.context
        self._client = self._context.client("kubectl/v1.36.2")
        self._rival = self._context.client("hpa-tuner/v0.1")
        self.deployments = ObjectInformer(self._client, DEPLOYMENTS, chain.selector)
        self.pods = ObjectInformer(self._client, PODS, chain.selector)
        self._moved = asyncio.Event()
        self._written = 0  # resourceVersion of the last command's change
        for informer in (self.deployments, self.pods):
            informer.handlers.append(lambda _, __: self._moved.set())
        self._path = f"{DEPLOYMENTS}/{chain.name}"

    async def commands(self) -> None:
        """Run each command once: apply, scale, a new image, a conflict, delete."""
        knobs, write, path = self._context.knobs, self._write, self._path
        replicas = knobs.integer("replicas")
        body = deployment(self._chain.name, replicas, knobs.text("surge"), knobs.text("unavailable"))
        apply = write("PATCH", f"{path}?fieldManager=kubectl", body, "apply", APPLY)
        await self._do("apply", apply, self._rolled_out(replicas))
        await self._do("scale", self._scale(2 * replicas), self._rolled_out(2 * replicas))
        template = {"spec": {"containers": [{"name": "main", "image": image(2)}]}}
        new_image = write("PATCH", path, {"spec": {"template": template}}, "set image", STRATEGIC)
        await self._do("set image", new_image, self._rolled_out(2 * replicas))
        if knobs.yes("conflict"):
            await self._do("conflict", self._scale_in_conflict(replicas), self._rolled_out(replicas))
        options = {"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Background"}
        delete = write("DELETE", path, options, "delete", "application/json")
        await self._do("delete", delete, lambda: not self.pods.objects)

    async def _do(self, name: str, command: Awaitable[None], reached: Callable[[], bool]) -> None:
        self._context.begin(name)
        self._context.now = f"kubectl {name}"
        began = asyncio.get_running_loop().time()
        await command
        while not reached():
            self._moved.clear()
            await self._moved.wait()
        took = asyncio.get_running_loop().time() - began
        self._context.memory.setdefault("took", {})[name] = took
        await asyncio.sleep(QUIET_SECONDS)

    def _rolled_out(self, replicas: int) -> Callable[[], bool]:
        """A check whether all pods have the newest template and are available, and no others are left."""

        def reached() -> bool:
            found = self.deployments.objects.get(self._chain.name)
            if found is None or int(version_of(found)) < self._written:
                return False
            status: Obj = found.get("status") or {}
            current = status.get("observedGeneration") == found["metadata"]["generation"]
            counts = [status.get(key, 0) for key in ("replicas", "updatedReplicas", "availableReplicas")]
            return current and counts == [replicas] * 3 and len(self.pods.objects) == replicas

        return reached

    async def _write(self, method: str, path: str, body: Obj, label: str, content_type: str = MERGE) -> None:
        answer = await self._client.write(method, path, body, f"kubectl: {label}", content_type=content_type)
        if not answer.ok:
            raise ClientError(f"kubectl {label}: HTTP {answer.status}")
        self._written = int(decode_json(answer.body, dict)["metadata"].get("resourceVersion") or 0)

    async def _scale(self, replicas: int) -> None:
        await self._write("PATCH", f"{self._path}/scale", {"spec": {"replicas": replicas}}, "scale")

    async def _scale_in_conflict(self, replicas: int) -> None:
        """Scale, with a conflict: another client changes the object before a controller writes its status."""

        async def interfere(path: str) -> None:
            if path == f"{self._path}/status":
                self._chain.before_update = no_interference
                annotation = {"metadata": {"annotations": {"ktui/tuned": "yes"}}}
                what = "another client: annotate"
                await self._rival.write("PATCH", self._path, annotation, what, content_type=MERGE)

        self._chain.before_update = interfere
        await self._scale(replicas)

    async def clean_up(self) -> None:
        """Delete the remaining objects without a grace period."""
        self._context.begin("clean up")
        options = {"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 0}
        for collection in (DEPLOYMENTS, REPLICA_SETS, PODS):
            await self._client.write("DELETE", f"{collection}?{self._chain.selector}", options, "clean up")


async def no_interference(_: str) -> None:
    """Do nothing before a controller's update."""


def image(version: int) -> str:
    return f"registry.example/chain:v{version}"


def deployment(name: str, replicas: int, surge: str, unavailable: str) -> Obj:
    labels = {LABEL: name}
    limits = {
        "maxSurge": int(surge) if surge.isdecimal() else surge,
        "maxUnavailable": int(unavailable) if unavailable.isdecimal() else unavailable,
    }
    return {
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": name, "namespace": "default", "labels": labels},
        "spec": {
            "replicas": replicas, "strategy": {"type": "RollingUpdate", "rollingUpdate": limits},
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [{"name": "main", "image": image(1)}]},
            },
        },
    }  # fmt: skip


async def run(context: LoadContext) -> None:
    chain = Chain(context, no_interference)
    trace = context.memory["trace"] = CausalTrace(context.run, context.variant)
    context.account.observers.append(trace.take)
    kubectl = Kubectl(chain)
    nodes = context.cluster.nodes[: context.knobs.integer("kubelets")]
    controllers: list[Controller] = [
        DeploymentController(chain),
        ReplicaSetController(chain),
        Scheduler(chain, nodes),
        GarbageCollector(chain),
        *(NodeKubelet(chain, node) for node in nodes),
    ]
    informers = [kubectl.deployments, kubectl.pods]
    workers: list[Controller | ObjectInformer] = [*informers, *controllers]
    context.begin("start")
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(worker.run()) for worker in workers]
            for informer in [*informers, *(found for each in controllers for found in each.informers)]:
                await informer.synced.wait()
            while True:
                await kubectl.commands()
                context.count("rounds")
                if not (again := context.knobs.number("repeat_after")):
                    break
                context.now = f"all of it again in {again:g} s"
                await context.pause(again)
            for task in tasks:
                task.cancel()
    finally:
        await kubectl.clean_up()
        context.account.observers.remove(trace.take)


def tables(context: LoadContext, account: Account) -> list[FindingsTable]:
    """Return the tables of what each command caused: the sums, then each step."""
    trace: CausalTrace | None = context.memory.get("trace")
    trees = trace.forests("kubectl: ") if trace is not None else {}
    if not trees:
        return []
    steps = [_steps(name, tree) for name, tree in reversed(trees.items())]
    return [_sums(trees, context.memory.get("took", {})), *steps]


def _sums(trees: dict[str, list[tuple[int, TraceStep]]], took: dict[str, float]) -> FindingsTable:
    rows = []
    for name, tree in trees.items():
        steps = [step for _, step in tree]
        rows.append(
            (
                f"kubectl {name}", integer(len(steps)), integer(max(depth for depth, _ in tree)),
                integer(sum(len(step.txns) for step in steps)),
                integer(sum(step.is_event for step in steps)),
                integer(len(set().union(*(step.leases for step in steps)))),
                integer(sum(step.status == 409 for step in steps)),
                figure(took[name]) if name in took else "…",
            )
        )  # fmt: skip
    heads = ("command", "requests", "deep", "Txns", "Events", "leases", "409", "goal after s")
    note = "requests that it caused, directly or through others; LISTs and WATCHes of informers not counted"
    return FindingsTable("what one command causes", heads, tuple(rows), (note,))


def _steps(name: str, tree: list[tuple[int, TraceStep]]) -> FindingsTable:
    began = tree[0][1].at
    rows = [
        (
            f"{'  ' * depth}{step.tag.label}", f"{(step.at - began) * 1e3:,.0f}", f"{step.status or '…'}",
            integer(step.revision) if step.revision else "–", step.etcd(),
        )
        for depth, step in tree[:MOST_ROWS]
    ]  # fmt: skip
    notes = ["each line is below the change whose event it reacts to; ms since the command"]
    if len(tree) > MOST_ROWS:
        notes.append(f"{integer(len(tree) - MOST_ROWS)} more: --json has all")
    heads = (f"kubectl {name}", "ms", "answer", "revision", "etcd")
    data = tuple({"depth": depth, **step.document()} for depth, step in tree)
    return FindingsTable(f"causal trace of kubectl {name}", heads, tuple(rows), tuple(notes), data)


WORKLOAD = Workload(
    name="deployment-chain",
    sentence="kubectl apply of a Deployment: which requests, transactions, events and leases does it cause?",
    own_knobs=KNOBS, run=run, tables=tables,
    fixes=(
        Fix("a conflict is made to happen", ("conflict=yes",)), Fix("no conflict", ("conflict=no",)),
        Fix("10 replicas", ("replicas=10",)),
        Fix("rolling update one by one", ("surge=1", "unavailable=0")),
    ),
    writes=True,
)  # fmt: skip
