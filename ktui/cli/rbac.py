"""`ktui rbac`: print the ClusterRole that `ktui observe` and `ktui --kubeconfig` need."""

from __future__ import annotations

import argparse

from ktui.cli.exit_codes import OK, USAGE, fail
from ktui.cli.output import emit, emit_json


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser(
        "rbac",
        help="print a read-only ClusterRole for observing a kube-apiserver",
        description="Print the ClusterRole that `ktui observe` and `ktui --kubeconfig` need: nothing in it "
        "changes an object or reads its content.",
        epilog="example:\n  ktui rbac --user jane | kubectl apply -f -\n\nexit status: 0 printed, 2 usage",
    )
    who = parser.add_mutually_exclusive_group()
    who.add_argument("--user", metavar="NAME", default="", help="bind it to this user")
    who.add_argument("--group", metavar="NAME", default="", help="bind it to this group")
    who.add_argument(
        "--service-account", metavar="NAMESPACE:NAME", default="", help="bind it to this service account"
    )
    parser.add_argument("--json", action="store_true", help="a List in JSON instead of YAML")


def run(args: argparse.Namespace) -> int:
    from ktui.live.access import binding_document, role_document  # start-up time

    namespace, colon, name = args.service_account.partition(":")
    if args.service_account and not (namespace and colon and name):
        return fail(f"{args.service_account!r} is not a service account: write NAMESPACE:NAME", USAGE)
    documents = [role_document()]
    if args.user or args.group or args.service_account:
        documents.append(binding_document(args.user, args.group, args.service_account))
    if args.json:
        emit_json({"apiVersion": "v1", "kind": "List", "items": documents}, indent=2)
        return OK
    import yaml  # start-up time

    emit(yaml.safe_dump_all(documents, sort_keys=False).rstrip("\n"))
    return OK
