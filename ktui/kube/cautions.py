"""Warnings about a request for the client's author, one sentence each."""

from __future__ import annotations

from collections.abc import Iterator

from ktui.kube.advice import near_parameter
from ktui.kube.routing.plan import Plan, Source
from ktui.kube.routing.request import ReadRequest
from ktui.kube.versions import Behaviour


def cautions(request: ReadRequest, plan: Plan, behaviour: Behaviour) -> tuple[str, ...]:
    """Return warnings about parameters whose effect is not what they suggest."""
    found = [*_unknown(request)]
    if request.verb == "list":
        found += [*_limits(request, plan, behaviour), *_narrowing(request, behaviour)]
        found += [*_early_1_33(request, behaviour)]
    if request.verb == "watch":
        found += [*_watching(request, plan, behaviour)]
    if request.info.watch:
        found.append("the path form /watch/ is deprecated: use ?watch=true")
    if request.resource is None and request.verb != "get":
        found.append(f"{request.info.resource} is not built in: taken for a custom resource (with a cache)")
    return tuple(found)


def _unknown(request: ReadRequest) -> Iterator[str]:
    for name in request.options.unknown:
        if request.verb == "get" and near_parameter(name) == name:
            yield f"{name} is not a parameter of a GET: the server ignores it"
            continue
        meant = near_parameter(name)
        hint = f" (did you mean {meant}?)" if meant else ""
        effect = ""
        if meant in ("fieldSelector", "labelSelector"):
            effect = ": nothing is filtered, the whole collection is read and sent"
        yield f"unknown parameter {name} is silently ignored by the server{hint}{effect}"


def _limits(request: ReadRequest, plan: Plan, behaviour: Behaviour) -> Iterator[str]:
    options = request.options
    if options.limit < 0:
        yield f"limit={options.limit} means no limit"
    if options.limit <= 0:
        return
    if options.resource_version == "0" and plan.limit_honoured is False:
        yield "limit is ignored with resourceVersion=0: the cache returns everything that is left"
    elif plan.limit_honoured is False:
        yield "limit does nothing: the selector narrows the LIST to one key"
    named = options.resource_version not in ("", "0")
    if named and not options.resource_version_match and not options.continue_:
        yield (
            "limit with resourceVersion and no resourceVersionMatch means exactly that revision "
            "(the legacy rule), not 'at least'"
        )
    if plan.source is Source.ETCD and request.scope(behaviour).selective:
        pages = "pages double up to 10,000" if behaviour.minor >= 24 else "in pages of the limit"
        yield f"etcd cannot filter: keys are read until {options.limit} objects match ({pages})"


def _narrowing(request: ReadRequest, behaviour: Behaviour) -> Iterator[str]:
    if request.info.namespace or request.cluster_scoped:
        return
    token = bool(request.options.continue_)
    if request.required_name and not token and not request.scope(behaviour).single:
        yield "metadata.name without a namespace: all namespaces are read and filtered; put it in the path"
    if request.required_namespace and behaviour.minor <= 26:
        yield "metadata.namespace does not narrow the read before 1.27: every namespace is read and filtered"


def _early_1_33(request: ReadRequest, behaviour: Behaviour) -> Iterator[str]:
    options = request.options
    unset = not options.resource_version and not options.continue_
    if behaviour.minor == 33 and behaviour.patch is None and unset and options.limit > 0:
        yield "1.33.0 to 1.33.2 have a bug that sends this to etcd after all; shown is 1.33.3 and later"


def _watching(request: ReadRequest, plan: Plan, behaviour: Behaviour) -> Iterator[str]:
    options = request.options
    if options.send_initial_events is not None and behaviour.minor <= 26:
        yield f"sendInitialEvents is unknown to {behaviour.version}: it is ignored"
    stale = not options.resource_version and plan.reasons[-1] == "w.initial_any"
    if stale:
        yield "a WATCH without resourceVersion is like resourceVersion=0 in this version: it may start stale"
    if options.limit > 0:
        yield "limit does nothing on a WATCH"
