"""The tools of `ktui mcp`: each runs the code of a command and returns its figures as a document."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import msgspec
from msgspec import Meta

from ktui import install_command
from ktui.audit.comparison import ReportError
from ktui.audit.partial_tally import PartialError
from ktui.cli.agents.answers import Document, Masks, ToolProblem, fitted
from ktui.cli.audit import read_tally
from ktui.cli.effective_options import parse
from ktui.cli.explain import alike, explanations_of, span
from ktui.cli.list import estimate_at
from ktui.cli.main import parser_of
from ktui.cli.observe import nothing_read, observed_state
from ktui.cli.options import supports_progress
from ktui.cli.output import OK, USAGE, fail
from ktui.client.api import RefusedError
from ktui.client.connection import ClientError
from ktui.client.kubeconfig_reader import kubeconfig_files, read_contexts
from ktui.config.errors import ConfigError
from ktui.core.live.observe_document import report_document
from ktui.kube.gates import VERSION_RANGE
from ktui.kube.routing.predicates import result
from ktui.kube.routing.request import RequestError
from ktui.kube.versions import BehaviourError

MOST_RESOURCES, MOST_USERS = 8, 5  # in `cluster_findings`

_Path = Annotated[
    str,
    Meta(min_length=1, max_length=4096, description="API path with its query, as in `kubectl get --raw`"),
]
_Verb = Annotated[Literal["", "get", "list", "watch"], Meta(description="default: what the path asks for")]
_Gates = Annotated[str, Meta(max_length=2000, description="feature gates, as A=true,B=false")]


class ExplainRequest(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    path: _Path
    verb: _Verb = ""
    kube_version: Annotated[str, Meta(max_length=10, description=VERSION_RANGE)] = "1.36"
    feature_gates: _Gates = ""


class CompareVersions(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    path: _Path
    verb: _Verb = ""


class EstimateList(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    path: _Path


class RankClients(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    log: Annotated[
        str, Meta(min_length=1, max_length=4096, description="a log file or folder below those of --logs")
    ]
    top: Annotated[int, Meta(ge=1, le=50, description="how many groups")] = 10
    kube_version: Annotated[str, Meta(max_length=10, description=f"{VERSION_RANGE}; default: by the log")] = (
        ""
    )


class ClusterFindings(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    seconds: Annotated[int, Meta(ge=5, le=300, description="how long the metrics are read")] = 30


@dataclass(frozen=True)
class Agent:
    """What the tools may reach: one cluster, and the logs below some paths."""

    kubeconfig: str = ""
    context: str = ""
    logs: tuple[Path, ...] = ()
    masks: Masks = field(default_factory=lambda: Masks(allow=False))


def run(args: argparse.Namespace) -> int:
    """`ktui mcp`: serve the tools (Model Context Protocol)."""
    missing = [path for path in args.logs if not Path(path).exists()]
    if missing:
        return fail(f"--logs {missing[0]}: there is no such file or folder", USAGE)
    try:
        from ktui.cli.agents.mcp_server import serve  # start-up time
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] not in ("mcp", "mcp_types"):
            raise
        return fail(f"`ktui mcp` needs the MCP SDK: {install_command('mcp')}", USAGE)
    logs = tuple(Path(path).resolve() for path in args.logs)
    agent = Agent(args.kubeconfig, args.context, logs, Masks(allow=args.allow_names))
    described = [(name, tool.about, tool.schema()) for name, tool in TOOLS.items()]
    asyncio.run(serve(described, lambda name, arguments: call(name, arguments, agent)))
    return OK


class AgentTool(NamedTuple):
    """A tool: its arguments, what it says of itself, and the function that answers."""

    arguments: type[msgspec.Struct]
    about: str
    answer: Callable[[Any, Agent], Awaitable[str]]

    def schema(self) -> Document:
        schema = msgspec.json.schema(self.arguments)
        found: Document = schema["$defs"][self.arguments.__name__]
        return found


async def call(name: str, arguments: object, agent: Agent) -> str:
    """Return a tool's answer: JSON of at most 4 KB. Raises ToolProblem for everything that goes wrong."""
    tool = TOOLS.get(name)
    if tool is None:
        raise ToolProblem(f"there is no tool {name!r}; tools: {', '.join(TOOLS)}")
    try:
        wanted = msgspec.convert(arguments or {}, tool.arguments)
    except msgspec.ValidationError as error:
        raise ToolProblem(f"wrong arguments of {name}: {error}") from None
    try:
        return await tool.answer(wanted, agent)
    except (RequestError, BehaviourError) as error:
        raise ToolProblem(str(error)) from error
    except (ClientError, ConfigError) as error:
        raise ToolProblem(agent.masks.text(str(error))) from error
    except SystemExit:
        raise ToolProblem(f"wrong arguments of {name}: see its schema") from None


def _command(name: str, *words: str) -> argparse.Namespace:
    """Return the options of a command, with its settings and defaults."""
    return parse(parser_of(name), words, name)


# Tools that need no server.


async def _explain(wanted: ExplainRequest, agent: Agent) -> str:
    gates = f"--feature-gates={wanted.feature_gates}"
    if wanted.kube_version == "all":
        raise ToolProblem("explain_request takes one kube_version: compare_versions has all of them")
    words = (f"--kube-version={wanted.kube_version}", gates, *_verb(wanted.verb), "--", wanted.path)
    (explanation,) = explanations_of(_command("explain", *words))
    document = explanation.document()
    steps = [
        f"{result(each['rule'], each['taken'])}: {each['rule']} {each['saw']}" for each in document["steps"]
    ]
    return fitted({**document, "steps": steps}, ("steps", "warnings", "cheaper", "reasons"))


async def _compare(wanted: CompareVersions, agent: Agent) -> str:
    words = ("--kube-version=all", *_verb(wanted.verb), "--", wanted.path)
    explanations = explanations_of(_command("explain", *words))
    rows = []
    for _, group in groupby(explanations, key=alike):
        run = list(group)
        found = run[-1].document()
        kept = ("route", "reason_id", "reason", "limit_honoured", "consistency", "wait", "seats", "error")
        rows.append({"versions": span(run), **{name: found[name] for name in kept}})
    rows.reverse()  # the oldest versions are left out first
    request = explanations[0].request
    return fitted({"verb": request.verb, "path": request.url, "newest_first": rows}, ("newest_first",))


def _verb(verb: str) -> tuple[str, ...]:
    return (f"--verb={verb}",) if verb else ()


# Tools that ask the cluster.


def _cluster(agent: Agent) -> tuple[str, ...]:
    """Return the options that name the agent's cluster. Raises ClientError without one."""
    context = agent.context or read_contexts(kubeconfig_files(agent.kubeconfig))[1]
    if not context:
        raise ClientError("the kubeconfig has no current context: start `ktui mcp --context NAME`")
    file = (f"--kubeconfig={agent.kubeconfig}",) if agent.kubeconfig else ()
    return (*file, f"--context={context}")


async def _estimate(wanted: EstimateList, agent: Agent) -> str:
    try:
        found = await estimate_at(_command("list", "--estimate", *_cluster(agent), "--", wanted.path))
    except RefusedError as error:
        why = agent.masks.text(str(error))
        raise ToolProblem(f"the server refuses this LIST: {why}") from error
    document = found.document()
    whole, lists = document["predicted"], ("warnings", "cheaper")
    kept = ("kube_version", "route", "reason_id", "reason", "limit_honoured", "consistency", "seats",
            "fallback", "error", "cache_assumed_ready")  # fmt: skip
    flat = {**document, "predicted": {name: whole[name] for name in kept}}
    return fitted({**flat, **{name: whole[name] for name in lists}}, lists)


async def _findings(wanted: ClusterFindings, agent: Agent) -> str:
    live = await observed_state(_command("observe", f"--for={wanted.seconds}s", *_cluster(agent)))
    if not live.replicas:
        raise ToolProblem(agent.masks.text(nothing_read(live)))
    report, masks = report_document(live), agent.masks
    known = {*live.resources, "kube-apiserver"}
    for level in live.levels:  # from here on they are masked in texts too
        masks.names.level(level)
    rows = report["resources"].items()
    listed = [(name, row) for name, row in rows if row["lists"] or row["etcd"]["lists"]]
    document = {
        "verdict": report["verdict"],
        "version": report["server"]["version"],
        "seconds": report["seconds"],
        "replicas": {name: report["replicas"][name] for name in ("expected", "reached")},
        "findings": [
            {**item, "text": masks.text(item["text"]),
             "subject": item["subject"] if item["subject"] in known else masks.names.level(item["subject"])}
            for item in report["findings"]
        ],
        "resources": [_resource(*item) for item in listed[:MOST_RESOURCES]],
        "users": [
            {**user, "user": masks.names.user(user["user"]), "level": masks.names.level(user["level"]),
             "path": masks.url(user["path"])}
            for user in report["users"][:MOST_USERS]
        ],
        "denied": [item["path"] for item in report["denied"]],
        "ktui_load": report["ktui_load"],
    }  # fmt: skip
    return fitted(document, ("users", "resources", "denied", "findings"))


def _resource(name: str, row: Document) -> Document:
    served = {
        source: {each: row[source][each] for each in ("lists", "fetched")} for source in ("cache", "etcd")
    }
    return {"resource": name, **served, **{figure: row[figure] for figure in ("lists", "watches", "bytes")}}


# The tool that reads logs.


async def _rank(wanted: RankClients, agent: Agent) -> str:
    path = _allowed(wanted.log, agent.logs)
    version = f"--kube-version={wanted.kube_version}"
    args = _command("audit", version, f"--top={wanted.top}", "--", str(path))
    return await asyncio.to_thread(_ranked, args, agent.masks)


def _allowed(log: str, roots: tuple[Path, ...]) -> Path:
    """Return the path of a log. Raises ToolProblem unless it is one of `roots`, or below one."""
    if not roots:
        raise ToolProblem("no log may be read: start `ktui mcp --logs PATH`")
    for root in roots:
        path = (root / log).resolve()
        if path.is_relative_to(root) and path.exists():
            return path
    shown = ", ".join(str(root) for root in roots)
    raise ToolProblem(f"there is no log {log!r} in what --logs allows: {shown}")


def _ranked(args: argparse.Namespace, masks: Masks) -> str:
    try:
        tally, wish = read_tally(args, supports_progress(args), quiet=True)
        report = wish.report(tally, args.top)
    except (ReportError, PartialError) as error:
        raise ToolProblem(str(error)) from error
    except OSError as error:
        raise ToolProblem(f"cannot read the log: {error.strerror}") from error
    if tally.unread and not report.groups:
        problems = [file.problem for file in report.files if file.problem]
        raise ToolProblem(f"no request was found in the log: {'; '.join(problems) or 'unknown lines'}")
    groups = [_group(group, masks) for group in report.groups]
    document = {
        "kube_version": report.kube_version, "ranked_by": report.ranked_by,
        "span": None if report.span is None else msgspec.to_builtins(report.span),
        "requests": msgspec.to_builtins(report.requests), "groups_total": report.groups_total,
        "groups": groups, "notes": [masks.text(note) for note in report.notes],
    }  # fmt: skip
    return fitted(document, ("notes", "groups"))


def _group(group: Any, masks: Masks) -> Document:
    latency, estimated = group.latency, group.estimated
    best = group.cheaper[0] if group.cheaper else None
    return {
        "rank": group.rank, "client": masks.names.client(group.client), "user": masks.names.user(group.user),
        "request": f"{group.verb} {masks.url(group.example)}", "count": group.count,
        "ms": None if latency is None else {"p50": latency.p50, "p99": latency.p99}, "route": group.route,
        "reason_id": group.reason_id,
        "processed_bytes": None if estimated is None else round(estimated.processed_bytes),
        "cheaper": None if best is None else {"why": best.why, "path": masks.url(best.path)},
    }  # fmt: skip


TOOLS = {
    "explain_request": AgentTool(
        ExplainRequest,
        "Predict whether kube-apiserver serves a GET, LIST or WATCH from its watch cache or from etcd, why, "
        "and what would be cheaper. Contacts no server.",
        _explain,
    ),
    "compare_versions": AgentTool(
        CompareVersions,
        "The same for every Kubernetes version that ktui knows: where the route of a request changes. "
        "Contacts no server.",
        _compare,
    ),
    "estimate_list": AgentTool(
        EstimateList,
        "What a LIST would cost at the cluster: number and size of the objects, route, objects and bytes "
        "read, seats, cheaper variants. The LIST is not sent; one object is read.",
        _estimate,
    ),
    "rank_clients": AgentTool(
        RankClients,
        "Rank the clients in an apiserver's audit log (or httplog, traces) by what their reads cost, with "
        "the route of each and a cheaper variant.",
        _rank,
    ),
    "cluster_findings": AgentTool(
        ClusterFindings,
        "Read the metrics of the cluster's kube-apiservers for some seconds: which LISTs go to etcd, which "
        "clients wait, and what to change. Only GETs are sent.",
        _findings,
    ),
}
