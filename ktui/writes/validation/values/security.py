"""Rules of security contexts, and of the annotations that had profiles before them; in upstream's order."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ktui.kube.fielderrors import FieldError, forbidden, invalid, not_supported, required, too_long
from ktui.kube.golang.formatting import quote
from ktui.kube.json_trees import Obj
from ktui.writes.validation.internal_types import internal
from ktui.writes.validation.values.checks import (
    Rows,
    any_subdomain,
    below,
    conforms,
    inside,
    listed,
    relative_path,
    table_of,
    user_id,
)
from ktui.writes.validation.values.systems import containers_of

_PROFILES = ("Localhost", "RuntimeDefault", "Unconfined")
_LONGEST_PATH, _LONGEST_CREDENTIALS = 4095, 64 * 1024
_LONGEST_DOMAIN, _LONGEST_USER = 255, 104
_CONTROL = re.compile("[\x00-\x1f\x7f]")
_NET_BIOS = re.compile(r'[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}')
_DNS = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?")
_DOMAIN = re.compile(rf"{_DNS.pattern}(?:\.{_DNS.pattern})*")
_DOTS, _REFUSED = re.compile("[. ]+"), re.compile(r'["/\\:;|=,+*?<>@\[\]]')


def _seccomp(profile: Obj) -> Iterator[FieldError]:
    """Check a seccomp profile: only a local one has a name (upstream: validateSeccompProfileField)."""
    kind, name = profile.get("type") or "", profile.get("localhostProfile")
    if not kind:
        yield required(".type", "type is required when seccompProfile is set")
    elif kind not in _PROFILES:
        yield not_supported(".type", kind, _PROFILES)
    if kind != "Localhost":
        if name is not None:
            why = "can only be set when seccomp type is Localhost"
            yield invalid(".localhostProfile", internal(profile, "core.v1.SeccompProfile"), why)
    elif name is None:
        yield required(".localhostProfile", "must be set when seccomp type is Localhost")
    else:
        yield from inside(".localhostProfile", relative_path(name))


def app_armor(profile: Obj) -> Iterator[FieldError]:
    """Check an AppArmor profile: only a local one has a name (upstream: ValidateAppArmorProfileField)."""
    kind, name = profile.get("type") or "", profile.get("localhostProfile")
    if not kind:
        yield required(".type", "type is required when appArmorProfile is set")
    elif kind not in _PROFILES:
        yield not_supported(".type", kind, _PROFILES)
    elif kind == "Localhost":
        yield from inside(".localhostProfile", _app_armor_name(name))
    elif name is not None:
        yield invalid(".localhostProfile", name, "can only be set when AppArmor type is Localhost")


def _app_armor_name(name: str | None) -> Iterator[FieldError]:
    if not name:
        yield required("", "must be set when AppArmor type is Localhost")
        return
    if name != name.strip():
        yield invalid("", name, "must not be padded with whitespace")
    if len(name.encode()) > _LONGEST_PATH:
        yield too_long("", _LONGEST_PATH)


def _user_faults(account: str) -> Iterator[str]:
    """Yield why a user of Windows, with or without a domain before it, is invalid."""
    if not account:
        yield " cannot be an empty string"
    elif _CONTROL.search(account):
        yield " cannot contain control characters"
    elif account.count("\\") > 1:
        yield " cannot contain more than one backslash"
    else:
        domain, backslash, user = account.rpartition("\\")
        if len(domain.encode()) > _LONGEST_DOMAIN:
            yield f"'s Domain length must be under {_LONGEST_DOMAIN + 1} characters"
        if backslash and not (_NET_BIOS.fullmatch(domain) or _DOMAIN.fullmatch(domain)):
            yield "'s Domain doesn't match the NetBios nor the DNS format"
        if not user:
            yield "'s User cannot be empty"
        elif len(user.encode()) > _LONGEST_USER:
            yield f"'s User length must not be longer than {_LONGEST_USER} characters"
        if _DOTS.fullmatch(user):
            yield "'s User cannot contain only periods or spaces"
        if _REFUSED.search(user):
            yield "'s User cannot contain the following characters: \"/\\:;|=,+*?<>@[]"


def _credentials(spec: str) -> Iterator[str]:
    if not spec:
        yield "gmsaCredentialSpec cannot be an empty string"
    elif len(spec.encode()) > _LONGEST_CREDENTIALS:
        yield "gmsaCredentialSpec size must be under 64 KiB"


# Credentials and user of Windows (upstream: validateWindowsSecurityContextOptions).
_WINDOWS: Rows = below("windowsOptions", (
    ("gmsaCredentialSpecName", any_subdomain), ("gmsaCredentialSpec", conforms(_credentials)),
    ("runAsUserName", conforms(lambda user: [f"runAsUserName{why}" for why in _user_faults(user)])),
))  # fmt: skip


def _escalation(context: Obj) -> Iterator[FieldError]:
    """A container that may not gain privileges has none."""
    if context.get("allowPrivilegeEscalation") is not False:
        return
    faults = ["`privileged` to true"] if context.get("privileged") else []
    added = (context.get("capabilities") or {}).get("add") or []
    faults += ["`capabilities.Add` CAP_SYS_ADMIN" for name in added if name == "CAP_SYS_ADMIN"]
    shown = internal(context, "core.v1.SecurityContext") if faults else None
    for fault in faults:
        yield invalid("", shown, f"cannot set `allowPrivilegeEscalation` to false and {fault}")


_UNMASKED = "`hostUsers` must be false to use `Unmasked`"
_proc_mount = listed("Default", "Unmasked")
_USERS: Rows = (("runAsUser", user_id), ("runAsGroup", user_id))
_users = table_of(*_USERS)
_profiles = table_of(
    ("seccompProfile", _seccomp),
    ("", _escalation),
    *_WINDOWS,
    ("appArmorProfile", app_armor),
)
# The same members of a pod's security context.
OF_POD: Rows = (
    ("seccompProfile", _seccomp), *_WINDOWS, ("appArmorProfile", app_armor),
)  # fmt: skip


def of_container(context: Obj, spec: Obj) -> Iterator[FieldError]:
    """Check the security context of a container of a pod (upstream: ValidateSecurityContext)."""
    yield from _users(context)
    if (mount := context.get("procMount")) is not None:
        yield from inside(".procMount", _proc_mount(mount))
        if mount == "Unmasked" and spec.get("hostUsers") is not False:
            yield invalid(".procMount", mount, _UNMASKED)
    yield from _profiles(context)


SECCOMP_OF_POD = "seccomp.security.alpha.kubernetes.io/pod"
SECCOMP = "container.seccomp.security.alpha.kubernetes.io/"
APP_ARMOR = "container.apparmor.security.beta.kubernetes.io/"
INSTEAD_OF_ARMOR = 'deprecated since v1.30; use the "appArmorProfile" field instead'
INSTEAD_OF_SECCOMP = 'non-functional in v1.27+; use the "seccompProfile" field instead'
_LOCAL = "localhost/"
_BY_DEFAULT = ("runtime/default", "docker/default")
_KINDS = {"unconfined": "Unconfined", _BY_DEFAULT[0]: "RuntimeDefault"}


def profile_errors(annotations: Obj, spec: Obj, field: str) -> Iterator[FieldError]:
    """Check such annotations (upstream: ValidateSeccompPodAnnotations, ValidateAppArmorPodAnnotations)."""
    for name in (SECCOMP_OF_POD, *(name for name in annotations if name.startswith(SECCOMP))):
        if name in annotations:
            yield from inside(f"{field}.{name}", _old_seccomp(annotations[name]))
    armored = [name for name in annotations if name.startswith(APP_ARMOR)]
    known = {container.get("name") for _, container in containers_of(spec)} if armored else set()
    for name in armored:
        profile, container = annotations[name], name.removeprefix(APP_ARMOR)
        if container not in known:
            yield invalid(f"{field}[{name}]", container, "container not found")
        if profile and profile not in _KINDS and not profile.startswith(_LOCAL):
            yield invalid(f"{field}[{name}]", profile, f"invalid AppArmor profile name: {quote(profile)}")


def _old_seccomp(profile: str) -> Iterator[FieldError]:
    if profile.startswith(_LOCAL):
        yield from relative_path(profile.removeprefix(_LOCAL))
    elif profile not in _BY_DEFAULT and profile not in _KINDS:
        yield invalid("", profile, "must be a valid seccomp profile")


def other_profiles(annotations: Obj, spec: Obj) -> Iterator[FieldError]:
    """Check that fields do not say something else (validateSeccompAnnotationsAndFields and others)."""
    if not any(name.startswith((SECCOMP_OF_POD, SECCOMP, APP_ARMOR)) for name in annotations):
        return
    whole, where = spec.get("securityContext") or {}, "securityContext"
    own = {at: (each.get("name") or "", each.get(where) or {}) for at, each in containers_of(spec)}
    contexts = [
        ("", SECCOMP_OF_POD, whole),
        *((at, f"{SECCOMP}{name}", of) for at, (name, of) in own.items()),
    ]
    for at, key, context in contexts:
        if key in annotations and (profile := context.get("seccompProfile")) is not None:
            found = _mismatch(annotations[key], profile, "seccomp", _BY_DEFAULT)
            yield from inside(f"{at}.{where}.seccompProfile", found)
    if (spec.get("os") or {}).get("name") == "windows":
        return
    for at, (name, context) in own.items():
        profile, key = context.get("appArmorProfile") or whole.get("appArmorProfile"), f"{APP_ARMOR}{name}"
        if profile is not None and key in annotations:
            found = _mismatch(annotations[key], profile, "apparmor", _BY_DEFAULT[:1])
            yield from inside(f"{at}.{where}.appArmorProfile", found)


def _mismatch(text: str, profile: Obj, what: str, defaults: tuple[str, ...]) -> Iterator[FieldError]:
    kind, name = profile.get("type"), profile.get("localhostProfile")
    equal = {"Unconfined": text == "unconfined", "RuntimeDefault": text in defaults}
    if not {**equal, "Localhost": text.startswith(_LOCAL)}.get(str(kind), True):
        yield forbidden(".type", f"{what} type in annotation and field must match")
    elif kind == "Localhost" and text.removeprefix(_LOCAL) != name:
        yield forbidden(".localhostProfile", f"{what} profile in annotation and field must match")


def profile_warnings(annotations: Obj, container: Obj, whole: Obj | None, at: str) -> Iterator[str]:
    """Yield warnings for annotations without a field; of AppArmor for templates only, which have a path.

    `whole` is the AppArmor profile of the whole pod.
    """
    name, context = container.get("name") or "", container.get("securityContext") or {}
    if context.get("seccompProfile") is None and f"{SECCOMP}{name}" in annotations:
        yield f"{at}metadata.annotations[{SECCOMP}{name}]: {INSTEAD_OF_SECCOMP}"
    profile, own = annotations.get(f"{APP_ARMOR}{name}"), context.get("appArmorProfile")
    if at and own is None and profile is not None and whole != (app_armor_of(profile) or {}):
        yield f"{at}metadata.annotations[{APP_ARMOR}{name}]: {INSTEAD_OF_ARMOR}"


def app_armor_of(annotation: str) -> Obj | None:
    """Return the profile that an annotation names; None if there is none (ApparmorFieldForAnnotation)."""
    if annotation in _KINDS:
        return {"type": _KINDS[annotation]}
    name = annotation.removeprefix(_LOCAL)
    return {"type": "Localhost", "localhostProfile": name} if annotation != name != "" else None
