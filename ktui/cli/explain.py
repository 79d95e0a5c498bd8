"""`ktui explain`: print the route of a request and the reason, without any etcd."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ktui.cli.exit_codes import OK
from ktui.cli.options import add_etcd_version, supports_progress
from ktui.cli.output import emit, emit_json
from ktui.kube.gates import DEFAULT_VERSION, VERSION_RANGE

if TYPE_CHECKING:
    from ktui.kube.explain import Explanation
    from ktui.kube.flow_schemas import PriorityLevel
    from ktui.kube.routing.request import ReadRequest
    from ktui.kube.versions import Behaviour

CACHES = ("ready", "initializing", "reinitializing", "disabled")
AGES = ("compacted", "old", "current", "ahead", "beyond")

EPILOG = """ages of a revision, for --rv-age and --continue-age:
  compacted  no longer in etcd              current  the cache's newest
  old        cache and etcd know it         ahead    etcd has it, the cache not yet
                                            beyond   neither has it yet

examples:
  ktui explain '/api/v1/pods?limit=500'
  ktui explain '/api/v1/pods?limit=500&resourceVersion=0' --kube-version all
  ktui explain '/api/v1/pods?fieldSelector=spec.nodeName=node-01' --kube-version 1.24
  ktui explain '/api/v1/pods' --etcd-version 3.5.1 --json
  ktui explain '/api/v1/pods?limit=500&resourceVersion=4711' --rv-age old --no-cache-snapshot
  ktui explain '/api/v1/configmaps?watch=true&resourceVersion=4711' --rv-age compacted
  ktui explain '/api/v1/pods' --repeated-every 30 --agents 500 --node node-01 --accept application/json
  ktui explain '/api/v1/nodes' --kube-version 1.30 --feature-gates ConsistentListFromCache=true

exit status: 0 explained (also where the server would answer an error), 2 usage"""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser(
        "explain",
        help="say where a request is served from, and why, without any etcd",
        description="Say whether a kube-apiserver serves a GET, LIST or WATCH from its watch cache\n"
        "or from etcd, why, and what would be cheaper. Nothing is contacted.",
        epilog=EPILOG,
    )
    add = parser.add_argument
    add("path", metavar="PATH", help="API path with its query as in `kubectl get --raw`, or a whole URL")
    add("--verb", choices=("get", "list", "watch"), default="", help="default: what the path asks for")
    add(
        "--kube-version",
        metavar="V",
        default=DEFAULT_VERSION,
        help=f"{VERSION_RANGE}, or all (default: {DEFAULT_VERSION})",
    )
    add("--feature-gates", metavar="A=true,…", default="", help="gates set differently from the default")
    add_etcd_version(parser)
    add("--cache", choices=CACHES, default="ready", help="state of the resource's watch cache")
    add("--rv-age", choices=AGES, default="current", help="how old the request's resourceVersion is")
    add("--continue-age", choices=AGES[:-1], default="current", help="how old the continue token is")
    add(
        "--cache-snapshot",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="whether the cache still holds a snapshot of an old revision",
    )
    client = parser.add_argument_group("the client, as far as it is known: for more advice")
    client.add_argument("--repeated-every", type=float, metavar="SECONDS", help="the client polls")
    client.add_argument(
        "--agents", type=int, default=1, metavar="N", help="number of concurrent clients (after a rollout)"
    )
    client.add_argument(
        "--keeps-part",
        action="store_true",
        help="each of the --agents keeps a part of the answer and discards the rest, by a hash",
    )
    client.add_argument(
        "--informer", action="store_true", help="the client sends the LIST and then a WATCH, as informers do"
    )
    client.add_argument("--node", metavar="NAME", default="", help="the node that the client runs on")
    client.add_argument(
        "--account",
        "--user",
        metavar="USER",
        default="",
        help="its user name in the cluster: decides the priority level, which caps its seats",
    )
    client.add_argument("--group", metavar="G,…", default="", help="groups of that user")
    client.add_argument("--accept", metavar="TYPE", help="its Accept header, like application/json")
    add("--json", action="store_true", help="one JSON object, or an array of them for `all`")


def run(args: argparse.Namespace) -> int:
    explanations = explanations_of(args)
    if args.json:
        documents = [explanation.document() for explanation in explanations]
        emit_json(documents if args.kube_version == "all" else documents[0], indent=2)
    else:
        from ktui.cli.explain_text import lines  # start-up time

        emit("\n".join(lines(explanations, colour=_colour())), coloured=True)
    return OK


def explanations_of(args: argparse.Namespace) -> list[Explanation]:
    """Explain `args.path` under each version that is asked for, oldest first.

    Raises ConfigError, RequestError, BehaviourError.
    """
    from ktui.kube.routing.request import parse_request  # start-up time

    request = parse_request(args.path, args.verb)
    return [_explain(request, args, *pair) for pair in _behaviours(args)]


def _explain(
    request: ReadRequest, args: argparse.Namespace, behaviour: Behaviour, warnings: tuple[str, ...]
) -> Explanation:
    from ktui.kube.access_pattern import AccessPattern  # start-up time
    from ktui.kube.explain import explain  # start-up time
    from ktui.kube.routing.cache_state import Readiness, RevisionAge, assumed_state

    state = assumed_state(
        request,
        readiness=Readiness(args.cache),
        progress=supports_progress(args),
        rv_age=RevisionAge(args.rv_age),
        token_age=RevisionAge(args.continue_age),
        snapshot=args.cache_snapshot,
    )
    pattern = AccessPattern(
        repeated_every=args.repeated_every,
        agents=args.agents,
        together=args.agents > 1,
        keeps_part=args.keeps_part,
        informer=args.informer,
        node=args.node,
        account=args.account,
        accept=args.accept,
    )
    return explain(request, state, behaviour, warnings, pattern, _level(request, args, behaviour))


def _level(request: ReadRequest, args: argparse.Namespace, behaviour: Behaviour) -> PriorityLevel | None:
    """Return the priority level of `--account`; None without one."""
    from ktui.kube.flow_schemas import level_of  # start-up time
    from ktui.kube.users import NODES, requester_of  # start-up time

    if not args.account:
        return None
    groups = [group for group in args.group.split(",") if group]
    if args.account.startswith("system:node:"):
        groups.append(NODES)  # the group in a kubelet's certificate
    return level_of(requester_of(args.account, groups), request.verb, request.info, behaviour.minor)


def _behaviours(args: argparse.Namespace) -> Iterator[tuple[Behaviour, tuple[str, ...]]]:
    """Yield the versions to explain, each with warnings about gates that it does not have."""
    # start-up time
    from ktui.kube.versions import KNOWN_VERSIONS, BehaviourError, behaviour_of, check_gates, parse_gates

    gates = parse_gates(args.feature_gates)
    if args.kube_version != "all":
        yield behaviour_of(args.kube_version, gates), ()
        return
    check_gates(gates)
    for version in KNOWN_VERSIONS:
        settable, warnings = {}, []
        for gate, wanted in gates.items():
            try:
                behaviour_of(version, {gate: wanted})
                settable[gate] = wanted
            except BehaviourError as error:
                warnings.append(f"{error}; the default is used")
        yield behaviour_of(version, settable), tuple(warnings)


def _colour() -> bool:

    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")
