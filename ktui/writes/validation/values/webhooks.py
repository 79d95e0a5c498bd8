"""Rules of webhook configurations, in upstream's order (admissionregistration/validation)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from urllib.parse import urlsplit

from ktui.kube.fielderrors import FieldError, invalid, required
from ktui.kube.golang.formatting import quote
from ktui.kube.json_trees import Obj
from ktui.kube.names import subdomain_faults
from ktui.writes.validation.values.checks import (
    Rows,
    alone,
    at_most,
    below,
    demand,
    distinct,
    dns_1035_faults,
    has,
    inside,
    label_key,
    listed,
    needed,
    needs,
    selector,
    table_of,
    valid_port,
    written,
)

_SEGMENTS = "should be a domain with at least three segments separated by dots"
_OPERATIONS = ("*", "CONNECT", "CREATE", "DELETE", "UPDATE")
_EFFECTS = ("None", "NoneOnDryRun")
_REVIEWS = ("v1", "v1beta1")
_MOST_CONDITIONS = 64
_CONTROL, _SCHEME = re.compile("[\x00-\x20\x7f](?<! )"), re.compile("[A-Za-z][A-Za-z0-9+.-]*:")
_ESCAPE = re.compile("%(?![0-9A-Fa-f]{2}).{0,2}", re.DOTALL)
_NO_HOST = re.compile(r'[ "\\^`{|}]')
_FORM = "; desired format: https://host[/path]"


match_conditions = table_of(("", at_most(_MOST_CONDITIONS)), ("", distinct(
    "name", table_of(("expression:text", written()), ("name:text", needed(label_key))), named=True
)))  # fmt: skip
"""Rules of when a webhook is called, or a policy applies; CEL is not compiled here."""


def _qualified(name: str) -> Iterator[FieldError]:
    """A name with a domain: only the first error counts (upstream: IsFullyQualifiedName)."""
    if faults := subdomain_faults(name):
        yield invalid("", name, ",".join(faults))
    elif name.count(".") < 2:
        yield invalid("", name, _SEGMENTS)


def _resources(resources: list[str]) -> Iterator[FieldError]:
    """Check that no resource is named twice: by a wildcard, and by its name (upstream: validateResources)."""
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
    return inside(".url", _url(url)) if url is not None else inside(".service", _SERVICE(service or {}))


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


def _confused(service: Obj) -> Iterator[FieldError]:
    """Check a webhook's service; upstream confuses its name and its namespace (ValidateWebhookService)."""
    for member, other in (("name", "namespace"), ("namespace", "name")):
        if not service.get(other):
            yield required(f".{member}")


def _path(path: str) -> Iterator[FieldError]:
    if path in ("", "/"):
        return
    if path == "//":
        yield invalid("", path, "segment[0] may not be empty")
        return
    if not path.startswith("/"):
        yield invalid("", path, "must start with a '/'")
    rest = path[1:] if path[0].isascii() else path  # upstream cuts a byte off, with which none is valid
    for index, step in enumerate(rest.removesuffix("/").split("/")):
        faults = [f": {fault}" for fault in subdomain_faults(step)] if step else [" may not be empty"]
        yield from (invalid("", path, f"segment[{index}]{fault}") for fault in faults)


def _reviews(versions: list[str]) -> Iterator[FieldError]:
    """Check the versions in which a webhook is called: one of them is known here."""
    for index, version in enumerate(versions):
        if version in versions[:index]:
            yield invalid(f"[{index}]", version, "duplicate version")
            continue
        yield from (invalid(f"[{index}]", version, fault) for fault in dns_1035_faults(version))
    if versions and not set(versions) & set(_REVIEWS):
        yield invalid("", versions, f"must include at least one of {', '.join(_REVIEWS)}")


_SERVICE = table_of(("", _confused), ("port", valid_port), ("path", _path))
OPERATIONS_AND_RULE: Rows = (
    ("", has("operations")), ("operations", alone("operations")), ("operations[]", listed(*_OPERATIONS)),
    ("", has("apiGroups")), ("apiGroups", alone("API groups")),
    ("", has("apiVersions")), ("apiVersions", alone("API versions")), ("apiVersions[]", needed()),
    ("", has("resources")), ("resources", _resources), ("scope", listed("*", "Cluster", "Namespaced")),
)  # fmt: skip
"""What a rule of a webhook or a policy matches."""
FAILURES, MATCHES, REINVOCATIONS = (
    listed(*values) for values in (("Fail", "Ignore"), ("Equivalent", "Exact"), ("IfNeeded", "Never"))
)
_WEBHOOK = table_of(
    ("name:text", needed(_qualified)), *below("rules[]", OPERATIONS_AND_RULE), ("failurePolicy", FAILURES),
    ("matchPolicy", MATCHES),
    ("", needs(lambda hook: hook.get("sideEffects") is not None, ".sideEffects",
               f"must specify one of {', '.join(_EFFECTS)}")), ("sideEffects", listed(*_EFFECTS)),
    ("timeoutSeconds",
     demand(lambda seconds: 1 <= seconds <= 30, "the timeout value must be between 1 and 30 seconds")),
    ("namespaceSelector", selector), ("objectSelector", selector), ("reinvocationPolicy", REINVOCATIONS),
    ("clientConfig!", _client), ("matchConditions", match_conditions),
    ("", has("admissionReviewVersions", why=f"must specify one of {', '.join(_REVIEWS)}")),
    ("admissionReviewVersions", _reviews),
)  # fmt: skip
KINDS: dict[str, Rows] = dict.fromkeys(
    (
        "mutatingwebhookconfigurations.admissionregistration.k8s.io",
        "validatingwebhookconfigurations.admissionregistration.k8s.io",
    ),
    (("webhooks", distinct("name", _WEBHOOK, named=True)),),
)
