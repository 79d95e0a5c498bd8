"""Translate gRPC's and etcd's errors into EtcdErrors: the endpoint, the failed step, what to do."""

from __future__ import annotations

import re
from collections.abc import Sequence

import grpc

from ktui.etcd.errors import (
    AuthenticationError,
    CompactedError,
    ConnectionLostError,
    EtcdError,
    FutureRevisionError,
    NoSpaceError,
    PermissionDeniedError,
    RequestTooLargeError,
    UnimplementedError,
    UnreachableError,
)

UNIMPLEMENTED = "etcd does not implement this RPC."
_COMPACTED = "required revision has been compacted"
# gRPC: "connection attempt timed out before receiving SETTINGS frame", the first frame of HTTP/2.
_SILENT = "before receiving settings frame"
# Words in gRPC's message (any of them), the failed step, and the sentence for users; the first that fits.
_STEPS = (
    (("etcdserver:",), "etcd", "etcd {endpoint} cannot serve now ({plain}); does the cluster have a leader?"),
    ((_SILENT,), "etcd",
     "etcd {endpoint}: it can be connected to and does not answer; is it stopped or overloaded?"),
    (("dns", "name resolution", "domain name", "could not contact dns"), "DNS",
     "etcd {endpoint}: the host name cannot be resolved (DNS); check the name."),
    (("ssl", "tls", "handshake", "certificate", "peer name", "verification"), "TLS",
     "etcd {endpoint}: the TLS handshake failed ({cause}); check --cacert, --cert and --key, and that the "
     "endpoint speaks TLS."),
    (("connection refused", "failed to connect", "connect endpoint failed", "no route", "unreachable",
      "timed out"), "TCP",
     "etcd {endpoint}: no TCP connection ({cause}); "
     "is etcd running there, and does a firewall let us through?"),
    (("",), "etcd",
     "etcd {endpoint}: the connection broke ({cause}); "
     "has etcd been stopped there, does it speak gRPC at all?"),
)  # fmt: skip


def from_grpc(error: grpc.aio.AioRpcError, endpoint: str) -> EtcdError:
    """Return the EtcdError for `error` at `endpoint`."""
    code, detail = error.code(), error.details() or ""
    if code is grpc.StatusCode.OUT_OF_RANGE:
        if _COMPACTED in detail:
            return CompactedError("that revision is compacted; etcd no longer has it.", detail)
        return FutureRevisionError("that revision lies in the future; etcd has not reached it.", detail)
    # gRPC reports an internal error if a stream breaks during a write; etcd's Go client resumes after both.
    if code in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.INTERNAL):
        return unavailable(detail, endpoint)
    if code is grpc.StatusCode.UNIMPLEMENTED:
        return UnimplementedError(UNIMPLEMENTED, detail)
    if code is grpc.StatusCode.DEADLINE_EXCEEDED:
        return UnreachableError(
            f"etcd {endpoint} did not answer in time; is it overloaded or without a quorum?", detail
        )
    if code is grpc.StatusCode.PERMISSION_DENIED:
        return denied(detail, endpoint)
    if (
        code is grpc.StatusCode.UNAUTHENTICATED
        or "user name is empty" in detail
        or "authentication failed" in detail
        or "auth store is old" in detail
    ):
        return AuthenticationError(
            f"etcd {endpoint} does not let us in ({_plain(detail)}); check --user NAME:PASSWORD.", detail
        )
    if code is grpc.StatusCode.RESOURCE_EXHAUSTED and "space" in detail:
        return NoSpaceError(
            f"etcd {endpoint} is out of space ({_plain(detail)}); compact, defragment and disarm the alarm.",
            detail,
        )
    if "request is too large" in detail or "larger than max" in detail:
        return RequestTooLargeError("the request is larger than etcd takes (1.5 MiB by default).", detail)
    return EtcdError(f"etcd {endpoint}: {_plain(detail) or code.name}.", detail)


def denied(detail: str, endpoint: str, request: str = "") -> PermissionDeniedError:
    """Return the error for a key range that the user's roles do not cover; `request` in etcd's text form."""
    wanted = f" for {request}" if request else ""
    return PermissionDeniedError(
        f"etcd {endpoint}: this user lacks the permission{wanted}; give one of its roles that range: "
        "etcdctl role grant-permission ROLE read --prefix=true /registry/.",
        detail,
    )


def none_answers(
    error: UnreachableError, endpoints: Sequence[str], found: Sequence[UnreachableError | None]
) -> UnreachableError:
    """Return one error for all endpoints, from probing each of them; `error` if that found nothing."""
    if len(found) == 1:
        if found[0] or error.step != "TCP":
            return found[0] or error
        return UnreachableError(  # gRPC could not connect, and a direct connection could
            f"etcd {endpoints[0]}: it accepts connections and closes them ({_cause(error.detail)}); "
            "is it starting, or does a proxy stand before an etcd that is down?",
            error.detail,
        )
    reasons = [
        str(fault) if fault else f"etcd {endpoint}: it can be connected to and does not answer."
        for endpoint, fault in zip(endpoints, found, strict=True)
    ]
    steps = {fault.step if fault else "etcd" for fault in found}
    return UnreachableError(
        f"none of the {len(found)} endpoints answers. {' '.join(reasons)}",
        error.detail,
        steps.pop() if len(steps) == 1 else "etcd",
    )


def compacted(revision: int) -> CompactedError:
    """Return the error that etcd reports inside a watch's stream when the revision is compacted."""
    return CompactedError(
        f"that revision is compacted; etcd's history begins at {revision}.", _COMPACTED, revision
    )


def unavailable(detail: str, endpoint: str) -> UnreachableError:
    """Return the error for the step of the connection that failed, by gRPC's message."""
    message = detail.lower()
    step, sentence = next(
        (step, sentence) for words, step, sentence in _STEPS if any(word in message for word in words)
    )
    text = sentence.format(endpoint=endpoint, plain=_plain(detail), cause=_cause(detail))
    return UnreachableError(text, detail, step)


def lost(endpoint: str) -> ConnectionLostError:
    """Return the error for a connection that was silent while another one answered."""
    return ConnectionLostError(
        f"etcd {endpoint}: the connection is dead; another one has taken its place.", "connection lost"
    )


def moved(endpoint: str) -> ConnectionLostError:
    """Return the error for a watch that ends in order to resume over another connection."""
    return ConnectionLostError(f"etcd {endpoint}: the watch moves to another connection.", "moved")


def silent(endpoint: str, seconds: float) -> UnreachableError:
    """Return the error for a small read without response, on a connection that worked before."""
    return UnreachableError(
        f"etcd {endpoint} has not answered for {seconds:.0f} s; is it stopped or overloaded, "
        "or is the connection dead?"
    )


def hanging(endpoint: str, seconds: float) -> UnreachableError:
    """Return the error for a silent watch whose connection works."""
    return UnreachableError(
        f"etcd {endpoint}: a watch has been silent for {seconds:.0f} s, while other requests were answered."
    )


def is_answer(error: EtcdError) -> bool:
    """Return True if etcd itself answered with the error, so that the connection works."""
    return not isinstance(error, UnreachableError) or "etcdserver:" in error.detail


def never_sent(error: EtcdError) -> bool:
    """Whether the request certainly did not reach etcd: then even a write may be sent to another endpoint."""
    if not isinstance(error, UnreachableError):
        return False
    return error.step in ("DNS", "TCP", "TLS") or _SILENT in error.detail.lower()


def _plain(detail: str) -> str:
    return detail.removeprefix("etcdserver: ").rstrip(".")


def _cause(detail: str) -> str:
    """Return the innermost of gRPC's causes, which are nested in `last error: …`."""
    innermost = re.split(r"last error: |UNAVAILABLE: |UNKNOWN: |INTERNAL: ", detail)[-1]
    innermost = re.sub(r"\{[^{}]*\}|\(\d+\)|\b(?:ipv[46]:)[^ ]+: ?", "", innermost)
    return " ".join(innermost.split()).rstrip(".: ")[:200] or "no reason given"
