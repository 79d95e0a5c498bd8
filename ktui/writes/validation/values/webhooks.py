"""Rules of webhook configurations, in upstream's order (admissionregistration/validation)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from urllib.parse import urlsplit

from ktui.kube.fielderrors import FieldError, invalid, not_supported, required
from ktui.kube.golang.formatting import quote
from ktui.kube.json_trees import Obj
from ktui.kube.names import LABEL_1035, LABEL_1035_FAULT, subdomain_faults
from ktui.writes.validation.values.checks import (
    Rows,
    duplicate,
    inside,
    numbered,
    selector,
)

_SEGMENTS = "should be a domain with at least three segments separated by dots"
_OPERATIONS = ("*", "CONNECT", "CREATE", "DELETE", "UPDATE")
_SCOPES = ("*", "Cluster", "Namespaced")
_EFFECTS = ("None", "NoneOnDryRun")
_REVIEWS = ("v1", "v1beta1")
_CONTROL, _SCHEME = re.compile("[\x00-\x20\x7f](?<! )"), re.compile("[A-Za-z][A-Za-z0-9+.-]*:")
_ESCAPE = re.compile("%(?![0-9A-Fa-f]{2}).{0,2}", re.DOTALL)
_NO_HOST = re.compile(r'[ "\\^`{|}]')
_FORM = "; desired format: https://host[/path]"


def _webhooks(webhooks: list[Obj]) -> Iterator[FieldError]:
    for where, webhook, name, again in numbered(webhooks, "name"):
        yield from inside(where, _webhook(webhook, name))
        versions = webhook.get("admissionReviewVersions") or []
        yield from inside(f"{where}.admissionReviewVersions", _reviews(versions))
        if again and name:
            yield duplicate(f"{where}.name", name)


def _webhook(webhook: Obj, name: str) -> Iterator[FieldError]:
    yield from inside(".name", _qualified(name))
    for index, rule in enumerate(webhook.get("rules") or []):
        yield from inside(f".rules[{index}]", _rule(rule))
    yield from _known(webhook, "failurePolicy", ("Fail", "Ignore"))
    yield from _known(webhook, "matchPolicy", ("Equivalent", "Exact"))
    if webhook.get("sideEffects") is None:
        yield required(".sideEffects", f"must specify one of {', '.join(_EFFECTS)}")
    yield from _known(webhook, "sideEffects", _EFFECTS)
    seconds = webhook.get("timeoutSeconds")
    if seconds is not None and not 1 <= seconds <= 30:
        yield invalid(".timeoutSeconds", seconds, "the timeout value must be between 1 and 30 seconds")
    for member in ("namespaceSelector", "objectSelector"):
        if webhook.get(member) is not None:
            yield from inside(f".{member}", selector(webhook[member]))
    yield from _known(webhook, "reinvocationPolicy", ("IfNeeded", "Never"))
    yield from inside(".clientConfig", _client(webhook.get("clientConfig") or {}))


def _known(part: Obj, member: str, values: tuple[str, ...]) -> Iterator[FieldError]:
    """Demand one of these texts, if the member is there."""
    if (value := part.get(member)) is not None and value not in values:
        yield not_supported(f".{member}", value, values)


def _qualified(name: str) -> Iterator[FieldError]:
    """A name with a domain: only the first error counts (upstream: IsFullyQualifiedName)."""
    if not name:
        yield required("")
    elif faults := subdomain_faults(name):
        yield invalid("", name, ",".join(faults))
    elif name.count(".") < 2:
        yield invalid("", name, _SEGMENTS)


def _rule(rule: Obj) -> Iterator[FieldError]:
    """Check what a rule matches: `*` stands alone."""
    yield from _listed(rule, "operations", "operations")
    for index, operation in enumerate(rule.get("operations") or []):
        if operation not in _OPERATIONS:
            yield not_supported(f".operations[{index}]", operation, _OPERATIONS)
    yield from _listed(rule, "apiGroups", "API groups")
    yield from _listed(rule, "apiVersions", "API versions")
    for index, version in enumerate(rule.get("apiVersions") or []):
        if not version:
            yield required(f".apiVersions[{index}]")
    yield from inside(".resources", _resources(rule.get("resources") or []))
    yield from _known(rule, "scope", _SCOPES)


def _listed(rule: Obj, member: str, what: str) -> Iterator[FieldError]:
    values = rule.get(member) or []
    if not values:
        yield required(f".{member}")
    if len(values) > 1 and "*" in values:
        yield invalid(f".{member}", values, f"if '*' is present, must not specify other {what}")


def _resources(resources: list[str]) -> Iterator[FieldError]:
    """Check that no resource is named twice: by a wildcard, and by its name (upstream: validateResources)."""
    if not resources:
        yield required("")
    whole, subs, named = set[str](), set[str](), False
    for index, text in enumerate(resources):
        if not text:
            yield required(f"[{index}]")
            continue
        resource, slash, sub = text.partition("/")
        if not slash:
            named = text != "*"
            continue
        if resource in whole:
            yield invalid(f"[{index}]", text, f"if '{resource}/*' is present, must not specify {text}")
        if sub in subs:
            yield invalid(f"[{index}]", text, f"if '*/{sub}' is present, must not specify {text}")
        whole |= {resource} if sub == "*" else set()
        subs |= {sub} if resource == "*" else set()
    if len(resources) > 1 and "*/*" in resources:
        yield invalid("", resources, "if '*/*' is present, must not specify other resources")
    if "*" in resources and named:
        why = "if '*' is present, must not specify other resources without subresources"
        yield invalid("", resources, why)


def _client(config: Obj) -> Iterable[FieldError]:
    url, service = config.get("url"), config.get("service")
    if (url is None) == (service is None):
        return [required("", "exactly one of url or service is required")]
    return inside(".url", _url(url)) if url is not None else inside(".service", _service(service or {}))


def _url(text: str) -> Iterator[FieldError]:
    """Check where a webhook is (upstream: ValidateWebhookURL)."""
    if fault := _url_fault(text):
        yield required("", f"url must be a valid URL: parse {quote(text)}: {fault}{_FORM}")
        return
    url = urlsplit(text)
    if url.scheme != "https":
        yield invalid("", url.scheme, f"'https' is the only allowed URL scheme{_FORM}")
    user, at, host = url.netloc.rpartition("@")
    if not host:
        yield invalid("", host, f"host must be specified{_FORM}")
    if at:
        yield invalid("", user, "user information is not permitted in the URL")
    if url.fragment:
        yield invalid("", url.fragment, "fragments are not permitted in the URL")
    if url.query:
        yield invalid("", url.query, "query parameters are not permitted in the URL")


def _url_fault(text: str) -> str:
    """Return why Go cannot parse a URL, "" if it can."""
    if _CONTROL.search(text):
        return "net/url: invalid control character in URL"
    if text.startswith(":"):
        return "missing protocol scheme"
    if (scheme := _SCHEME.match(text)) is None and ":" in text.partition("/")[0].partition("?")[0]:
        return "first path segment in URL cannot contain colon"
    rest = text[scheme.end() :] if scheme else text
    if escape := _ESCAPE.search(rest.partition("?")[0]):
        return f"invalid URL escape {quote(escape[0])}"
    host = re.split("[/?#]", rest[2:], maxsplit=1)[0].rpartition("@")[2] if rest.startswith("//") else ""
    if bad := _NO_HOST.search(host):
        return f"invalid character {quote(bad[0])} in host name"
    try:
        urlsplit(text)
    except ValueError:
        return "missing ']' in host"
    return ""


def _service(service: Obj) -> Iterator[FieldError]:
    """Check a webhook's service; upstream confuses its name and its namespace (ValidateWebhookService)."""
    for member, other in (("name", "namespace"), ("namespace", "name")):
        if not service.get(other):
            yield required(f".{member}")
    port, path = service.get("port", 443), service.get("path") or "/"
    if not 0 < port < 65536:
        yield invalid(".port", port, "port is not valid: must be between 1 and 65535, inclusive")
    if path == "//":
        yield invalid(".path", path, "segment[0] may not be empty")
    elif path != "/":
        yield from inside(".path", _segments(path))


def _segments(path: str) -> Iterator[FieldError]:
    if not path.startswith("/"):
        yield invalid("", path, "must start with a '/'")
    for index, step in enumerate(path[1:].removesuffix("/").split("/")):
        faults = [f": {fault}" for fault in subdomain_faults(step)] if step else [" may not be empty"]
        yield from (invalid("", path, f"segment[{index}]{fault}") for fault in faults)


def _reviews(versions: list[str]) -> Iterator[FieldError]:
    """Check the versions in which a webhook is called: one of them is known here."""
    if not versions:
        yield required("", f"must specify one of {', '.join(_REVIEWS)}")
        return
    for index, version in enumerate(versions):
        if version in versions[:index]:
            yield invalid(f"[{index}]", version, "duplicate version")
            continue
        if len(version.encode()) > 63:
            yield invalid(f"[{index}]", version, "must be no more than 63 characters")
        if not LABEL_1035.fullmatch(version):
            yield invalid(f"[{index}]", version, LABEL_1035_FAULT)
    if not set(versions) & set(_REVIEWS):
        yield invalid("", versions, f"must include at least one of {', '.join(_REVIEWS)}")


KINDS: dict[str, Rows] = dict.fromkeys(
    (
        "mutatingwebhookconfigurations.admissionregistration.k8s.io",
        "validatingwebhookconfigurations.admissionregistration.k8s.io",
    ),
    (("webhooks", _webhooks),),
)
