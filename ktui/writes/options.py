"""Options of writes: dryRun, fieldManager, fieldValidation, and those of deletion."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ktui.apiserver.http.request import Request
from ktui.kube.fielderrors import (
    FieldError,
    forbidden,
    invalid,
    invalid_object,
    not_supported,
    required,
    too_long,
)
from ktui.kube.golang.formatting import NumError, parse_int
from ktui.kube.json_trees import Obj
from ktui.kube.status import StatusError, bad_request
from ktui.writes.decoding.body import STRICT, WARN, SentBody, decode_document, strict_error

MAX_MANAGER = 128
VALIDATIONS = ("", "Ignore", "Strict", "Warn")
POLICIES = ("Foreground", "Background", "Orphan")


@dataclass(frozen=True, slots=True)
class WriteOptions:
    """Options of a write. `validation` of unknown fields: "Ignore", "Warn" or "Strict"."""

    dry_run: bool
    field_manager: str
    validation: str = "Warn"

    def warnings(self, faults: list[str], refuse: Callable[[str], StatusError]) -> list[str]:
        """Return the unknown and repeated fields to warn of; with "Strict", raise the error for them."""
        if faults and self.validation == STRICT:
            raise refuse(strict_error(faults))
        return faults if self.validation == WARN else []


def write_options(request: Request, kind: str, *, applies: bool = False) -> WriteOptions:
    """Return the options of `kind` (`CreateOptions`, `UpdateOptions`, `PatchOptions`); raise StatusError 422.

    `applies`: for a server-side apply, the only patch that may be forced.
    """
    dry_run = request.parameters.get("dryRun", [])
    manager = request.parameter("fieldManager")
    errors = []
    if kind == "PatchOptions" and not applies and "force" in request.parameters:
        errors.append(forbidden("force", "may not be specified for non-apply patch"))
    if len(manager.encode()) > MAX_MANAGER:
        errors.append(too_long("fieldManager", MAX_MANAGER))
    # Each error quotes the whole name: if that is too long, one error is enough.
    wrong = [(at, char) for at, char in enumerate(manager) if not char.isprintable()]
    for at, char in wrong[: MAX_MANAGER if len(manager) <= MAX_MANAGER else 1]:
        place = len(manager[:at].encode("utf-8", "surrogatepass"))
        why = f"invalid character U+{ord(char):04X} (at position {place})"
        errors.append(invalid("fieldManager", manager, why))
    if applies and not manager:
        errors.append(required("fieldManager", "is required for apply patch"))
    errors += _dry_run_errors(dry_run)
    validation = request.parameter("fieldValidation")
    if validation not in VALIDATIONS:
        errors.append(not_supported("fieldValidation", validation, VALIDATIONS))
    if errors:
        raise invalid_object(kind, "meta.k8s.io", "", errors)
    # Without a name it is the user agent up to the first slash.
    manager = manager or request.user_agent.split("/")[0][:MAX_MANAGER] or "unknown"
    return WriteOptions(bool(dry_run), manager, validation or "Warn")


@dataclass(frozen=True, slots=True)
class DeleteOptions:
    """Options of a deletion. `grace_seconds` None: the object's own. `policy` "": the default policy.

    `uid` and `resource_version` are preconditions, None for no precondition.
    """

    dry_run: bool = False
    grace_seconds: int | None = None
    policy: str = ""
    uid: str | None = None
    resource_version: str | None = None


Misfit = Callable[[Obj, str, str], str]
"""(object, apiVersion, kind) → Go's error for a member of a wrong type, "" if there is none."""


def delete_options(request: Request, body: SentBody, misfit: Misfit) -> DeleteOptions:
    """The options from the body, or from the query without a body; raise StatusError 400, 415 or 422."""
    return checked_delete_options(_from_body(body, misfit) if body else _from_query(request))


def checked_delete_options(source: Obj) -> DeleteOptions:
    """Return the options of a DeleteOptions document; raise StatusError 422."""
    options, refusal = read_delete_options(source)
    if refusal is not None:
        raise refusal
    return options


def read_delete_options(source: Obj) -> tuple[DeleteOptions, StatusError | None]:
    """Return the options of a DeleteOptions document, and the 422 if they are invalid."""
    policy, orphan, dry_run = (source.get(n) for n in ("propagationPolicy", "orphanDependents", "dryRun"))
    errors = []
    if orphan is not None and policy is not None:
        why = "orphanDependents and deletionPropagation cannot be both set"
        errors.append(invalid("propagationPolicy", policy, why))
    if policy is not None and policy not in POLICIES:
        errors.append(not_supported("propagationPolicy", policy, (*POLICIES, "nil")))
    errors += _dry_run_errors(dry_run or [])
    refusal = invalid_object("DeleteOptions", "meta.k8s.io", "", errors) if errors else None
    if orphan is not None:
        policy = "Orphan" if orphan else "Background"
    preconditions = source.get("preconditions") or {}
    grace = source.get("gracePeriodSeconds")
    options = DeleteOptions(
        dry_run=bool(dry_run),
        # A negative period means the minimum.
        grace_seconds=None if grace is None else (1 if grace < 0 else grace),
        policy=policy or "",
        uid=preconditions.get("uid"),
        resource_version=preconditions.get("resourceVersion"),
    )
    return options, refusal


def _from_body(body: SentBody, misfit: Misfit) -> Obj:
    options = decode_document(body)
    kind, version = options.get("kind", "DeleteOptions"), options.get("apiVersion", "meta.k8s.io/v1")
    if kind != "DeleteOptions":
        scheme = "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme/register.go:27"
        raise bad_request(f'no kind "{kind}" is registered for version "{version}" in scheme "{scheme}"')
    if fault := misfit(options, "v1", "DeleteOptions"):
        raise bad_request(fault)
    return options


def _from_query(request: Request) -> Obj:
    parameters = request.parameters
    options: Obj = {"dryRun": parameters.get("dryRun", [])}
    if "propagationPolicy" in parameters:
        options["propagationPolicy"] = request.parameter("propagationPolicy")
    if "orphanDependents" in parameters:
        options["orphanDependents"] = request.flag("orphanDependents")
    if "uid" in parameters:
        options["preconditions"] = {"uid": request.parameter("uid")}
    if "gracePeriodSeconds" in parameters:
        try:
            options["gracePeriodSeconds"] = parse_int(request.parameter("gracePeriodSeconds"))
        except NumError as fault:
            raise bad_request(str(fault)) from None
    return options


def _dry_run_errors(values: list[str]) -> list[FieldError]:
    if all(value == "All" for value in values):
        return []
    return [not_supported("dryRun", values, ("All",))]
