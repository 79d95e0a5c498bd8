"""`ktui serve`: run the API server alone."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING

from ktui.cli.exit_codes import NO_CONNECTION, OK, USAGE, fail
from ktui.cli.logs import add_log_arguments, hide, log_of, report_log_problem, start_log
from ktui.cli.options import (
    add_behaviour_arguments,
    add_context_argument,
    add_demo_arguments,
    add_source_arguments,
    add_token_arguments,
)
from ktui.cli.output import emit, warn

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop

    from ktui.cli.server.serve_config import ServeConfig

log = log_of(__name__)

FEW_CONNECTIONS = 10_000

EPILOG = """examples:
  ktui serve --demo                                   an embedded etcd with a demo cluster
  ktui serve --etcd https://10.0.0.1:2379 --cacert ca.crt --cert c.crt --key c.key
  ktui serve --snapshot backup.db.gz --kube-version 1.30
  ktui serve --context prod --listen 127.0.0.1:6443    an etcd that the config file names
  KUBECONFIG=$(ktui kubeconfig) kubectl get pods -A

When it is ready it prints one line, `serving https://HOST:PORT`. It ends on SIGINT, SIGTERM or SIGHUP.
exit status: 0 stopped, 2 usage, 3 etcd unreachable, or the port is in use"""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser(
        "serve",
        help="run the API server alone",
        description="Run the API server alone: GET, LIST, WATCH and writes as kube-apiserver answers them, "
        "over an embedded etcd, a real one, or a snapshot.",
        epilog=EPILOG,
    )
    http = parser.add_argument_group("http")
    http.add_argument(
        "--listen",
        metavar="HOST:PORT",
        default="127.0.0.1:0",
        help="where to listen (default: a free port of 127.0.0.1)",
    )
    add_token_arguments(http, "the bearer token that clients must send (default: KTUI_TOKEN, or random)")
    http.add_argument(
        "--insecure-http",
        action="store_true",
        help="no TLS and no token; only on a loopback address, under a loopback name",
    )
    http.add_argument(
        "--max-connections",
        metavar="N",
        type=int,
        help="connections of clients at once; others are refused (default: what the limit of open files "
        "allows, at most 16384)",
    )
    chain = parser.add_argument_group("users and their rights")
    chain.add_argument(
        "--token-auth-file", metavar="FILE", help='more users: lines of token,user,uid,"group1,group2"'
    )
    chain.add_argument(
        "--client-ca-file",
        metavar="FILE",
        help="accept client certificates signed by one of these authorities: CN is the user, O a group",
    )
    chain.add_argument(
        "--authorization-mode",
        choices=["AlwaysAllow", "RBAC"],
        default="AlwaysAllow",
        help="RBAC: the stored roles decide what users may do; system:masters may do everything",
    )
    tokens = parser.add_argument_group("tokens of service accounts")
    tokens.add_argument(
        "--service-account-key-file",
        metavar="FILE",
        action="append",
        default=[],
        help="PEM keys (RSA or ECDSA; public, private or certificates) that verify tokens, besides the "
        "signing key; repeatable",
    )
    tokens.add_argument(
        "--service-account-signing-key-file",
        metavar="FILE",
        default="",
        help="the private key that signs tokens (default: the server's TLS key)",
    )
    tokens.add_argument(
        "--service-account-issuer",
        metavar="ISSUER",
        action="append",
        default=[],
        help="the issuer in new tokens; repeated: others that are accepted (default: "
        "https://kubernetes.default.svc)",
    )
    tokens.add_argument(
        "--api-audiences",
        metavar="NAME[,NAME…]",
        action="append",
        default=[],
        help="audiences whose tokens this server accepts (default: the issuers)",
    )
    logs = parser.add_argument_group("logs of requests, as kube-apiserver writes them")
    logs.add_argument("--audit-log-path", metavar="FILE", help="write audit.k8s.io/v1 Events; - is stdout")
    logs.add_argument(
        "--audit-policy-file",
        metavar="FILE",
        help="the audit.k8s.io/v1 Policy to follow (default: every request at level Metadata)",
    )
    logs.add_argument(
        "--audit-log-mode",
        choices=["blocking", "batch"],
        default="blocking",
        help="of a slow disk: requests wait (blocking, the default), or Events are dropped (batch)",
    )
    for name, what in (
        ("maxsize", "rotate the audit log before it exceeds N megabytes"),
        ("maxbackup", "keep N rotated audit logs"),
        ("maxage", "delete rotated audit logs after N days"),
    ):
        logs.add_argument(
            f"--audit-log-{name}", metavar="N", type=int, default=0, help=f"{what} (default 0: no limit)"
        )
    logs.add_argument(
        "--tracing-config-file",
        metavar="FILE",
        default="",
        help="send the spans of requests by OTLP: a TracingConfiguration, as for kube-apiserver",
    )
    logs.add_argument(
        "--http-log", metavar="FILE", help="write a klog line for each request, as with --v=3; - is stdout"
    )
    parser.add_argument(
        "--service-cluster-ip-range",
        metavar="CIDR",
        default="10.32.0.0/16",
        help="where services get their cluster IPs, unless etcd has a ServiceCIDR (default: 10.32.0.0/16)",
    )
    parser.add_argument(
        "--disable-admission-plugins",
        metavar="NAME[,NAME…]",
        action="append",
        default=[],
        help="admission plugins to leave out: LimitRanger, ResourceQuota, ServiceAccount",
    )
    flow = parser.add_argument_group("flow control")
    for kind, name, seats in (("reads", "requests", 400), ("writes", "mutating-requests", 200)):
        flow.add_argument(
            f"--max-{name}-inflight",
            metavar="N",
            type=int,
            default=seats,
            help=f"{kind} in flight; both numbers together are the seats of priority levels "
            "(default %(default)s)",
        )
    flow.add_argument(
        "--enable-priority-and-fairness",
        choices=["true", "false"],
        default="true",
        help="false: no priority levels; what exceeds the numbers in flight is rejected",
    )
    add_source_arguments(parser)
    add_behaviour_arguments(parser)
    parser.add_argument("--demo", action="store_true", help="fill the embedded etcd with a demo cluster")
    add_demo_arguments(parser)
    parser.add_argument("--record", metavar="FILE", help="write the telemetry to FILE (gzip: .gz)")
    add_context_argument(parser)
    add_log_arguments(parser)
    parser.add_argument("--parent", type=int, help=argparse.SUPPRESS)


def run(args: argparse.Namespace) -> int:
    import asyncio  # start-up time

    from ktui.apiserver.http.open_files import file_limit, most_connections, raise_file_limit
    from ktui.cli.child import die_with_parent
    from ktui.cli.crash import keep_quiet
    from ktui.cli.server.runtime import shorten_thread_switches
    from ktui.cli.server.serve_config import ServeConfig

    shorten_thread_switches()
    raise_file_limit()
    if args.parent:
        die_with_parent(args.parent)
    try:
        start_log(args, "serve")
        config = ServeConfig.from_arguments(args)
    except ValueError as error:
        return fail(str(error), USAGE)
    keep_quiet()
    if args.max_connections is None and most_connections(file_limit()) < FEW_CONNECTIONS:
        few = f"at most {config.most_connections:,} connections at once"
        warn(f"warning: {few}, as only {file_limit():,} open files are allowed: see ulimit -n")
    try:
        with asyncio.Runner(loop_factory=_event_loop()) as runner:
            return runner.run(_serve(config))
    finally:
        report_log_problem()


def _event_loop() -> Callable[[], AbstractEventLoop] | None:
    """Return uvloop's event loop factory; None without uvloop."""
    try:
        import uvloop  # start-up time
    except ImportError:
        return None
    return uvloop.new_event_loop


async def _serve(config: ServeConfig) -> int:
    from ktui.apiserver.http.listener import PortInUse  # start-up time
    from ktui.cli.server.composition import Composition
    from ktui.cli.server.runtime import freeze_heap
    from ktui.contract.recording import RecordingError
    from ktui.etcd.errors import EtcdError

    composition = Composition(config)
    hide(config.token or "", *config.users)
    try:
        await composition.start()
        freeze_heap()
        log.info("serving %s as Kubernetes %s", composition.url, config.behaviour.version)
        emit(f"serving {composition.url}", flush=True)
        await composition.until_stopped()
    except (EtcdError, PortInUse, RecordingError) as error:
        log.error("%s", error)
        return fail(str(error).removesuffix("."), NO_CONNECTION)
    finally:
        await composition.stop()
        log.info("stopped")
    return OK
