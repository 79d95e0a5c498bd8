"""Every LIST and WATCH that a real kube-apiserver 1.36 refused, and every one that it did not refuse."""

import json
import re
from typing import Any
from urllib.parse import urlsplit

from ktui.kube import continuetoken
from ktui.kube.golang.formatting import NumError, parse_uint
from ktui.kube.listoptions import ListOptions, parse_list_options, read_list, read_watch, with_watch_defaults
from ktui.kube.requestinfo import parse_path, request_verb
from ktui.kube.status import StatusError, continue_with_resource_version, invalid_resource_version
from ktui.kube.versions import Behaviour, behaviour_of
from tests.unit.kube.recorded import cases, served

_GATES = {
    "no-watchlist": {"WatchList": False},
    "no-consistent-list": {"ConsistentListFromCache": False},
}
# What other rooms find out: storage, authentication, negotiation, writes.
_OTHER_CODES = {401, 403, 404, 406, 410, 500, 504}


def _behaviour(profile: str) -> Behaviour:
    version, _, switch = profile.partition("-")
    return behaviour_of(version, _GATES.get(switch, {}))


def _refusal(url: str, behaviour: Behaviour) -> dict[str, Any] | None:
    """What is wrong with a request before storage is asked, in the order in which upstream looks."""
    parts = urlsplit(url)
    info = parse_path(parts.path)
    resource = served().find(info.group, info.version, info.resource)
    assert resource is not None, url
    try:
        options = parse_list_options(parts.query)
        if options.watch:
            read_watch(
                with_watch_defaults(options, watch_list=behaviour.enabled("WatchList")), behaviour, resource
            )
            return None
        read_list(options, behaviour, resource)
        _as_storage_reads(options)
        if options.continue_:
            continuetoken.decode(options.continue_)
    except StatusError as error:
        return error.body()
    return None


def _as_storage_reads(options: ListOptions) -> None:
    """By the rules that routing tells: it says where the fault is found, these are its texts."""
    if options.continue_ and options.resource_version not in ("", "0"):
        raise continue_with_resource_version()
    if options.resource_version:
        try:
            parse_uint(options.resource_version)
        except NumError:
            raise invalid_resource_version(options.resource_version) from None


def _comparable(body: dict[str, Any] | None) -> str:
    """The recording replaces numbers that look like revisions (also the example `12345` in a text)."""
    return re.sub(r"12345|<rv>|\{rv\.[^}]*\}", "RV", json.dumps(body, sort_keys=True))


def test_refused_and_accepted_alike() -> None:
    seen = 0
    differences = []
    for case in cases():
        if case["request"].get("method") != "GET" or case.get("status") in (None, 401, 403, 404, 406):
            continue
        parts = urlsplit(case["url"])
        info = parse_path(parts.path)
        if not info.is_resource or request_verb("GET", info, parts.query) not in ("LIST", "WATCH"):
            continue
        body = case.get("body")
        wanted = body if isinstance(body, dict) and body.get("kind") == "Status" else None
        if case["status"] in _OTHER_CODES or (wanted and "includeObject" in wanted["message"]):
            wanted = None
        seen += 1
        answer = _refusal(case["url"], _behaviour(case["profile"]))
        if _comparable(answer) != _comparable(wanted):
            differences.append((case["id"], case["url"], wanted, answer))
    assert seen > 5000
    assert not differences
