"""Options of writes: dryRun, fieldManager, fieldValidation, and those of deletion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ktui.apiserver.http.request import Request
from ktui.apiserver.objects.body import media_type, parse_json
from ktui.kube.fielderrors import invalid_object, not_supported, too_long
from ktui.kube.status import bad_request, unsupported_media_type

MAX_MANAGER = 128
VALIDATIONS = ("", "Ignore", "Strict", "Warn")
POLICIES = ("Foreground", "Background", "Orphan")


@dataclass(frozen=True, slots=True)
class WriteOptions:
    """`validation`: what becomes of unknown fields: "Ignore", "Warn" or "Strict"."""

    dry_run: bool
    field_manager: str
    validation: str = "Warn"


def write_options(request: Request, kind: str) -> WriteOptions:
    """Options of `CreateOptions`, `UpdateOptions` or `PatchOptions` (`kind`); StatusError 422."""
    dry_run = _dry_run(request.parameters().get("dryRun", []), kind)
    manager = request.parameter("fieldManager")
    errors = []
    if len(manager.encode()) > MAX_MANAGER:
        errors.append(too_long("fieldManager", MAX_MANAGER))
    validation = request.parameter("fieldValidation")
    if validation not in VALIDATIONS:
        errors.append(not_supported("fieldValidation", validation, VALIDATIONS))
    if errors:
        raise invalid_object(kind, "meta.k8s.io", "", errors)
    return WriteOptions(dry_run, manager or manager_of(request.user_agent), validation or "Warn")


def manager_of(user_agent: str) -> str:
    """The manager of a client that names none: its user agent up to the first slash."""
    return user_agent.split("/")[0][:MAX_MANAGER] or "unknown"


@dataclass(frozen=True, slots=True)
class DeleteOptions:
    """`grace_seconds` None: the object's own. `policy` "": the default one."""

    dry_run: bool = False
    grace_seconds: int | None = None
    policy: str = ""
    uid: str = ""
    resource_version: str = ""


def delete_options(request: Request, body: bytes) -> DeleteOptions:
    """From the body, or from the query when there is none; StatusError 400, 415, 422."""
    source: dict[str, Any] = _from_body(request, body) if body.strip() else _from_query(request)
    policy = source.get("propagationPolicy") or ""
    if policy and policy not in POLICIES:
        error = not_supported("propagationPolicy", policy, (*POLICIES, "nil"))
        raise invalid_object("DeleteOptions", "meta.k8s.io", "", [error])
    if source.get("orphanDependents") is not None and not policy:
        policy = "Orphan" if source["orphanDependents"] else "Background"
    preconditions = source.get("preconditions") or {}
    grace = source.get("gracePeriodSeconds")
    return DeleteOptions(
        dry_run=_dry_run(source.get("dryRun") or [], "DeleteOptions"),
        # A negative period means the least.
        grace_seconds=None if grace is None else (1 if grace < 0 else grace),
        policy=policy,
        uid=preconditions.get("uid") or "",
        resource_version=preconditions.get("resourceVersion") or "",
    )


def _from_body(request: Request, body: bytes) -> dict[str, Any]:
    content_type = request.headers.get("content-type", "")
    if content_type and media_type(content_type) not in ("application/json", "application/yaml"):
        raise unsupported_media_type()
    try:
        options = parse_json(body)
    except ValueError as error:
        raise bad_request(f"couldn't get version/kind; json parse error: {error}") from None
    if not isinstance(options, dict):
        raise bad_request("the body is no DeleteOptions")
    kind, version = options.get("kind", "DeleteOptions"), options.get("apiVersion", "v1")
    if kind != "DeleteOptions":
        raise bad_request(
            f'no kind "{kind}" is registered for version "{version}" in scheme '
            '"k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme/register.go:27"'
        )
    return options


def _from_query(request: Request) -> dict[str, Any]:
    parameters = request.parameters()
    options: dict[str, Any] = {"dryRun": parameters.get("dryRun", [])}
    if parameters.get("propagationPolicy"):
        options["propagationPolicy"] = request.parameter("propagationPolicy")
    if parameters.get("orphanDependents"):
        options["orphanDependents"] = request.flag("orphanDependents")
    if grace := request.parameter("gracePeriodSeconds"):
        try:
            options["gracePeriodSeconds"] = int(grace)
        except ValueError:
            raise bad_request(f'strconv.ParseInt: parsing "{grace}": invalid syntax') from None
    return options


def _dry_run(values: list[str], kind: str) -> bool:
    bad = next((value for value in values if value != "All"), None)
    if bad is not None:
        raise invalid_object(kind, "meta.k8s.io", "", [not_supported("dryRun", bad, ("All",))])
    return bool(values)
