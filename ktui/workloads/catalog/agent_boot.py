"""agent-boot: a DaemonSet's agents start at the same time and send their LISTs.

Every agent sends the LISTs of a plan of `ktui bench`, one after the other. An agent whose boot fails (an
error, or no time left) is restarted under a restart policy, as a kubelet or a rollout controller would do.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import unquote

from ktui.client.connection import ClientError
from ktui.core.format import integer, long_bytes, milliseconds, times
from ktui.kube.access_pattern import JSON, METADATA_ONLY, PROTOBUF
from ktui.workloads.plans import NODE, SELECTORS, PlanError, find_plan, without_selectors
from ktui.workloads.running.account import Account
from ktui.workloads.running.figures import LoadFigures
from ktui.workloads.running.fleet import LoadClient
from ktui.workloads.running.knobs import Knob, WorkloadError
from ktui.workloads.running.own_level import levels_table, own_level, shares_knob
from ktui.workloads.running.users import LoadUser, user_of
from ktui.workloads.running.workload import FindingsTable, Fix, LoadContext, Workload

POLICIES = ("none", "fixed", "exponential", "tenth")
FIXED_SECONDS = 5.0
BACKOFF_SECONDS, MOST_BACKOFF_SECONDS = 10.0, 300.0  # a kubelet's backoff for a crashing container
ACCEPTS = {"json": JSON, "protobuf": PROTOBUF, "metadata": f"{JSON};{METADATA_ONLY}"}
FORMS = ("plan", "unset", "0")
NEAR_ONE = 3.0  # bytes read for each byte returned

KNOBS = (
    Knob("agents", 50, "agents that start together", least=1, most=5_000),
    Knob("plan", "cilium-agent", "a plan of `ktui bench`, or a .toml file: what each agent lists"),
    Knob("rv", "plan", "resourceVersion of each LIST: as the plan says, unset, or 0", FORMS),
    Knob("selectors", True, "whether LISTs have the plan's selectors"),
    Knob("policy", "none",
         "restarts: none (at once), fixed (5 s), exponential (10 s to 5 min), tenth (a share a minute)",
         POLICIES),
    Knob("starts", 10, "policy tenth: percent of the fleet that may start in a minute", least=1, most=100,
         unit="%/min", former="share"),
    Knob("accept", "json", "form of the answers", tuple(ACCEPTS)),
    Knob("timeout", 60.0, "seconds after which a boot has failed", least=1, most=600, unit="s"),
    Knob("restart_after", 10.0, "seconds until the whole fleet restarts; 0: boot once", most=3_600, unit="s",
         former="again"),
    shares_knob("the agents"),
)  # fmt: skip

# Measurements of the article in a cluster of 4,000 nodes and 100,000 pods, by collection: bytes read for each
# agent that sends no resourceVersion (up to 1.30), bytes returned, and the time.
ARTICLE_CLUSTER, ARTICLE_NODES = "4,000 nodes, 100,000 pods", 4_000


class ArticleFigure(NamedTuple):
    """One collection of the article: bytes, None without a figure; `note` on its times."""

    read: float
    returned: float | None
    note: str


ARTICLE = {
    "/api/v1/pods": ArticleFigure(
        2.0e9, 526e3, "18.3 s to send all of them, 0.24 s one node's; 10 s in etcd, 0.05 s with rv=0"
    ),
    "/api/v1/nodes": ArticleFigure(70e6, None, "0.5 s to send all of them"),
    "/apis/cilium.io/v2/ciliumendpoints": ArticleFigure(193e6, None, "11 s to send all of them"),
}


class PlannedRequest(NamedTuple):
    """A LIST of the boot, before its node is filled in."""

    label: str
    path: str
    client: str


def planned_requests(context: LoadContext) -> list[PlannedRequest]:
    """Return the LISTs of a boot under the present knobs; raise WorkloadError if the plan cannot be read."""
    knobs = context.knobs
    try:
        plan = find_plan(knobs.text("plan"))
    except PlanError as error:
        raise WorkloadError(str(error)) from error
    rv, found = knobs.text("rv"), []
    for place, planned in enumerate(plan.lists, 1):
        path = planned.path if knobs.yes("selectors") else without_selectors(planned.path) or planned.path
        if rv != "plan":
            plain, _, query = path.partition("?")
            kept = [text for text in query.split("&") if text and not text.startswith("resourceVersion=")]
            kept += ["resourceVersion=0"] if rv == "0" else []
            path = plain + (f"?{'&'.join(kept)}" if kept else "")
        found.append(PlannedRequest(f"{place} {plural(path)}", path, planned.client))
    return found


def plural(path: str) -> str:
    return path.partition("?")[0].rpartition("/")[2]


async def run(context: LoadContext) -> None:
    """Boot the fleet, again after a pause, until the run ends."""
    agent = agent_of(planned_requests(context))
    user = LoadUser(group="system:nodes") if agent == "kubelet" else user_of(agent)
    async with own_level(context, user):
        context.begin("boot")
        while True:
            await boot_fleet(context)
            again = context.knobs.number("restart_after")
            if not again:
                return
            context.now = f"all agents run; they restart in {again:g} s"
            await context.pause(again)
            if context.phase == "boot":  # not after a change of a knob, which begins its own phase
                context.begin("restart")


async def boot_fleet(context: LoadContext) -> None:
    requests = planned_requests(context)
    agent, agents = agent_of(requests), context.knobs.integer("agents")
    context.found |= {"booted": 0, "agents": agents}
    began = asyncio.get_running_loop().time()
    async with asyncio.TaskGroup() as group:
        for number in range(agents):
            of_node = LoadUser(f"system:node:{context.cluster.node(number)}", "system:nodes")
            client = context.client(agent, of_node if agent == "kubelet" else None)
            group.create_task(_agent(context, client, number, requests))
    context.found["seconds_until_all_booted"] = round(asyncio.get_running_loop().time() - began, 3)


def agent_of(requests: Sequence[PlannedRequest]) -> str:
    return requests[0].client or "agent"


async def _agent(
    context: LoadContext, client: LoadClient, number: int, requests: Sequence[PlannedRequest]
) -> None:
    await asyncio.sleep(start_delay(context, number))
    attempt = 0
    while not await boots(context, client, context.cluster.node(number), requests):
        attempt += 1
        context.count("failed_boots")
        await asyncio.sleep(restart_delay(context, attempt))
    context.count("booted")
    booted, agents = (integer(int(context.found[name])) for name in ("booted", "agents"))
    context.now = f"{booted} of {agents} agents run"


def start_delay(context: LoadContext, number: int) -> float:
    """The delay of an agent's first start: 0, except under the policy that limits starts per minute."""
    if context.knobs.text("policy") != "tenth":
        return 0.0
    return number / starts_per_second(context)


def starts_per_second(context: LoadContext) -> float:
    return context.knobs.integer("agents") * context.knobs.integer("starts") / 100 / 60


def restart_delay(context: LoadContext, attempt: int) -> float:
    """Return the seconds before an agent that failed `attempt` times starts again."""
    match context.knobs.text("policy"):
        case "fixed":
            return FIXED_SECONDS
        case "exponential":
            return float(min(MOST_BACKOFF_SECONDS, BACKOFF_SECONDS * 2 ** (attempt - 1)))
        case "tenth":
            return attempt / starts_per_second(context)
    return 0.1 * context.rng.random()  # at once, plus the time in which a process starts


async def boots(
    context: LoadContext, client: LoadClient, node: str, requests: Sequence[PlannedRequest]
) -> bool:
    """Send one boot's LISTs, one after the other; return False if one fails or the time is over."""
    accept = ACCEPTS[context.knobs.text("accept")]
    try:
        async with asyncio.timeout(context.knobs.number("timeout")):
            for request in requests:
                path = request.path.replace(NODE, node)
                if not (await client.get_with_retries(path, request.label, accept=accept)).ok:
                    return False
    except ClientError:
        return False
    except TimeoutError:
        client.gave_up()
        return False
    return True


def tables(context: LoadContext, account: Account) -> list[FindingsTable]:
    """Return two tables: bytes read and returned for one agent's LISTs in this run, then the article's."""
    labels = ((request, (context.variant, request.label)) for request in planned_requests(context))
    found = [(request, account.labels[label]) for request, label in labels if label in account.labels]
    measured = [(request, figures) for request, figures in found if figures.useful.count]
    if not measured:
        return []
    return [_measured(context, measured), levels_table(context, account), _article(context, measured)]


def caveats(context: LoadContext, account: Account) -> list[str]:
    """Return whether all agents booted, why a factor is near 1, and the command that shows the other."""
    found = []
    booted, agents = context.found.get("booted", 0), context.found.get("agents", 0)
    if "seconds_until_all_booted" not in context.found and agents:
        found.append(f"the run ended when {integer(int(booted))} of {integer(int(agents))} agents had booted")
    shares = [
        per_request(figures)
        for request in planned_requests(context)
        if (figures := account.labels.get((context.variant, request.label))) and figures.useful.count
        if any(f"{selector}=" in request.path for selector in SELECTORS)
    ]
    read, returned = (sum(each[side] for each in shares) for side in (0, 1))
    if returned and read / returned < NEAR_ONE:
        found.append(
            f"LISTs with a selector read {times(read / returned)} of what they returned: the cache "
            "has an index for the selector, or there are few other objects. The article's effect (each agent "
            "reads the whole collection from etcd): "
            "ktui workload run agent-boot --kube-version 1.24 --set rv=unset --pods 5000 --nodes 200"
        )
    return found


def _measured(context: LoadContext, measured: Sequence[tuple[PlannedRequest, LoadFigures]]) -> FindingsTable:
    agents, nodes = context.knobs.integer("agents"), len(context.cluster.nodes)

    def row(what: str, letters: str, read: float, returned: float) -> tuple[str, ...]:
        factor = times(read / returned) if returned else "–"
        return what, letters, long_bytes(read), long_bytes(returned), factor, long_bytes(read * agents)

    rows = [
        row(short(request.path), "".join(sorted(figures.letters)), *per_request(figures))
        for request, figures in measured
    ]
    read, returned = (sum(per_request(figures)[side] for _, figures in measured) for side in (0, 1))
    rows.append(row("all of them", "", read, returned))
    heads = ("LIST", "from", "read", "returned", "read/returned", f"read × {integer(agents)}")
    note = (
        "per agent, LISTs answered without error; read: bytes out of etcd, and stored bytes of the objects "
        f"looked at in the cache ({integer(nodes)} nodes)"
    )
    return FindingsTable("one agent's LISTs", heads, tuple(rows), (note,))


def _article(context: LoadContext, measured: Sequence[tuple[PlannedRequest, LoadFigures]]) -> FindingsTable:
    """Return the article's figures for one agent and for one on every node, with this run's below each."""
    here = {request.path.partition("?")[0]: figures for request, figures in measured}
    rows, notes = [], []
    agents = context.knobs.integer("agents")
    for path, said in ARTICLE.items():
        rows.append((f"{plural(path)}: the article", *_pair(said.read, said.returned, ARTICLE_NODES)))
        note = f"{plural(path)}: {said.note}"
        if (figures := here.get(path)) is not None:
            rows.append(("  this run", *_pair(*per_request(figures), agents)))
            note += f"; here p50 {milliseconds(figures.milliseconds(0.5))} ms"
        notes.append(note)
    notes.append(
        f"× agents: {integer(ARTICLE_NODES)} in the article, {integer(agents)} here, with "
        f"{integer(len(context.cluster.nodes))} nodes: about the factor where the selector does not help"
    )
    heads = ("one agent's LIST", "read", "returned", "factor", "read × agents", "returned × agents")
    return FindingsTable(f"the article ({ARTICLE_CLUSTER}) and this run", heads, tuple(rows), tuple(notes))


def _pair(read: float, returned: float | None, agents: int) -> tuple[str, ...]:
    if not returned:
        return long_bytes(read), "–", "–", long_bytes(read * agents), "–"
    bytes_of_agents = (long_bytes(read * agents), long_bytes(returned * agents))
    return long_bytes(read), long_bytes(returned), times(read / returned), *bytes_of_agents


def per_request(figures: LoadFigures) -> tuple[float, float]:
    """Return the mean bytes read and bytes returned of all answers without an error."""
    useful = figures.useful
    return useful.processed_bytes / useful.count, useful.encoded_bytes / useful.count


def short(path: str) -> str:
    """Return a LIST in a few words: `pods spec.nodeName rv=0`."""
    plain, _, query = path.partition("?")
    words = [plural(plain)]
    for parameter in query.split("&"):
        key, _, value = unquote(parameter).partition("=")
        if key in SELECTORS:
            words.append(value.partition("=")[0])
        elif key == "resourceVersion":
            words.append(f"rv={value}")
    return " ".join(words)


WORKLOAD = Workload(
    name="agent-boot",
    sentence="A DaemonSet's agents start at once, and each sends its LISTs: does the storm reach etcd?",
    own_knobs=KNOBS, run=run, tables=tables, caveats=caveats,
    fixes=(
        Fix("LISTs with resourceVersion=0", ("rv=0",)),
        Fix("as the agent's authors wrote them", ("rv=plan",)),
        Fix("LISTs without resourceVersion", ("rv=unset",)),
        Fix("at most 10 % of the fleet a minute", ("policy=tenth", "starts=10")),
        Fix("the rules of Kubernetes 1.24", ("version=1.24",)),
        Fix("the rules of Kubernetes 1.36", ("version=1.36",)),
    ),
)  # fmt: skip
