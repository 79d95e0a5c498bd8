"""The LIST that the Lab's form describes: its fields, its path, and variants of it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from urllib.parse import quote

from ktui.core.references import Selection
from ktui.kube.access_pattern import query_text
from ktui.kube.advice import Advice
from ktui.kube.requestinfo import first_values, pairs, parse_path, request_verb, split_url
from ktui.kube.resources import Resource, ResourceTable
from ktui.kube.selectors.shards import shard

# Legal unescaped in a query value (RFC 3986) and easier to read: app=web,tier!=db
_READABLE = "=,!():/@.-_~"
# A client-go reflector's WatchList, with a timeout: without one it would not end.
_WATCH_LIST = (
    ("watch", "1"),
    ("sendInitialEvents", "true"),
    ("allowWatchBookmarks", "true"),
    ("timeoutSeconds", "60"),
)
PAGE = 500  # what kubectl asks for by default
ACCEPTS = {
    "json": "application/json",
    "table": "application/json;as=Table;v=v1;g=meta.k8s.io",
    "metadata": "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
    "protobuf": "application/vnd.kubernetes.protobuf",
}
MATCHES = ("", "NotOlderThan", "Exact")
# The fields by the parameters that they set, in the order of the Kubernetes documentation.
_FIELDS = {
    "labelSelector": "label_selector", "fieldSelector": "field_selector", "shardSelector": "shard",
    "limit": "limit", "continue": "continue_token", "resourceVersion": "resource_version",
    "resourceVersionMatch": "match",
}  # fmt: skip
_PART = re.compile(r"(\d{1,5})/(\d{1,5})")
VERBS = LIST, WATCH = "LIST", "WATCH"

ORIGINAL = "original"
PATTERN_ONLY = "the advice is about how the client asks: the request stays as it is"
NO_END = "that WATCH does not mark the end of its initial events, so its cost cannot be measured"


@dataclass(frozen=True, slots=True)
class ListForm:
    """The fields as typed. Empty text: the parameter is not sent."""

    resource: str = "pods"
    namespace: str = ""
    label_selector: str = ""
    field_selector: str = ""
    resource_version: str = ""
    match: str = ""
    limit: str = ""
    continue_token: str = ""
    accept: str = "json"
    kube_version: str = ""  # rules of the prediction; empty: those of the server
    stream: bool = False  # send a WatchList: a WATCH whose initial events are the answer
    shard: str = ""  # `1/3`: the first of three equal shards by uid; or a shardSelector
    others: str = ""  # parameters that have no field, as in the query: `filedSelector=…&pretty=1`

    @property
    def parameters(self) -> dict[str, str]:
        """The parameters that are set, without those of every WatchList."""
        sent = {name: getattr(self, field) for name, field in _FIELDS.items()}
        sent["shardSelector"] = self.shard_selector
        # The only match that initial events allow.
        sent["resourceVersionMatch"] = self.match or ("NotOlderThan" if self.stream else "")
        return {name: value for name, value in sent.items() if value}

    @property
    def query(self) -> str:
        """All parameters, in the order of the Kubernetes documentation."""
        parameters = (*self.parameters.items(), *(_WATCH_LIST if self.stream else ()))
        known = [f"{name}={quote(value, safe=_READABLE)}" for name, value in parameters]
        others = [quote(self.others, safe=f"{_READABLE}&%+")] if self.others else []
        return "&".join([*known, *others])

    @property
    def shard_selector(self) -> str:
        """The shardSelector that is sent: `1/3` written out, anything else as typed."""
        part = _PART.fullmatch(self.shard)
        if part is None or not 1 <= int(part[1]) <= int(part[2]):
            return self.shard
        return str(shard(int(part[1]) - 1, int(part[2])))

    @property
    def accept_header(self) -> str:
        return ACCEPTS.get(self.accept, ACCEPTS["json"])

    @property
    def pages(self) -> bool:
        """True if a limit bounds the answer, so that a next page may exist."""
        return self.limit.isdigit() and int(self.limit) > 0


def path_of(form: ListForm, resource: Resource) -> str:
    """Return the API path with query, without a namespace if the resource is cluster-scoped.

    `/api/v1/namespaces/team-00/pods?limit=500`
    """
    path = resource.path
    if form.namespace and resource.namespaced:
        root = path.removesuffix(resource.resource)
        path = f"{root}namespaces/{quote(form.namespace, safe='')}/{resource.resource}"
    return f"{path}?{form.query}" if form.query else path


@dataclass(frozen=True, slots=True)
class Variant:
    """One way to request the same objects. `all_pages`: request pages until there is no continue token."""

    label: str
    form: ListForm
    all_pages: bool = False


def variants_of(form: ListForm, current_rv: int, namespace: str = "") -> list[Variant]:
    """Return up to eight ways to request what `form` requests.

    `current_rv` is the resourceVersion for NotOlderThan and Exact (0: unknown, both are left out),
    `namespace` the namespace to which a LIST of all namespaces is narrowed. The last one shows what shard or
    selector save, or else what metadata-only does.
    """
    plain = replace(form, resource_version="", match="", limit="", continue_token="", stream=False)
    at = replace(plain, resource_version=str(current_rv))
    page = form.limit if form.pages else str(PAGE)
    variants = [
        Variant("unset", plain),
        Variant("rv=0", replace(plain, resource_version="0")),
        Variant(f"pages of {page}", replace(plain, limit=page), all_pages=True),
    ]
    if current_rv:
        variants += [Variant(match, replace(at, match=match)) for match in ("NotOlderThan", "Exact")]
    variants.append(Variant("WatchList", replace(plain, match="NotOlderThan", stream=True)))
    if form.namespace:
        variants.append(Variant("all namespaces", replace(plain, namespace="")))
    elif namespace:
        variants.append(Variant(f"in {namespace}", replace(plain, namespace=namespace)))
    if form.shard:
        last = Variant("no shard", replace(plain, shard=""))
    elif form.label_selector or form.field_selector:
        last = Variant("no selector", replace(plain, label_selector="", field_selector=""))
    elif form.accept == "metadata":
        last = Variant("whole objects", replace(plain, accept="json"))
    else:
        last = Variant("metadata only", replace(plain, accept="metadata"))
    return [*variants, last]


def form_of(path: str, form: ListForm) -> ListForm:
    """Return `form` with the options and the namespace of `path`."""
    plain, query = split_url(path)
    values, watch = first_values(query), verb_of(path) == WATCH
    known = {*_FIELDS, *(name for name, _ in _WATCH_LIST)} if watch else _FIELDS.keys()
    return replace(
        form,
        namespace=parse_path(plain).namespace,
        stream=watch,
        others=query_text([pair for pair in pairs(query) if pair[0] not in known]).removeprefix("?"),
        **{field: values.get(name, "") for name, field in _FIELDS.items()},
    )


def verb_of(path: str) -> str:
    """Return GET, LIST or WATCH for a path with query."""
    plain, query = split_url(path)
    return request_verb("GET", parse_path(plain), query)


def has_initial_events(path: str) -> bool:
    """True if a WATCH sends all objects first: the Lab can measure it up to the last of these."""
    values = first_values(split_url(path)[1])
    return values.get("sendInitialEvents") == "true" or values.get("resourceVersion", "") in ("", "0")


def form_of_read(selection: Selection, form: ListForm, table: ResourceTable) -> ListForm | None:
    """Return the selected read as a form, with the values of `form` that a path does not contain.

    None if the selection is neither a LIST in `table` nor a WATCH that begins with all objects.
    """
    info = parse_path(split_url(selection.target)[0])
    resource = table.find(info.group, info.version, info.resource)
    if selection.verb not in VERBS or resource is None or info.name:
        return None
    if selection.verb == WATCH and not has_initial_events(selection.target):
        return None
    accept = accept_of({"Accept": selection.accept}, form)
    return replace(form_of(selection.target, form), resource=resource.id, accept=accept)


def original_of(selection: Selection, form: ListForm, table: ResourceTable) -> Variant | None:
    """Return the selected read as the variant to compare others with; None if the form cannot express it.

    A further page of a LIST is replaced by the whole LIST, because its continue token expires.
    """
    taken = form_of_read(selection, form, table)
    if taken is None:
        return None
    return Variant(ORIGINAL, replace(taken, continue_token=""), all_pages=bool(taken.continue_token))


def added_to(target: str, form: ListForm) -> list[str]:
    """Return the names of the parameters that the Lab adds to the WATCH `target`."""
    asked = first_values(split_url(target)[1])
    return [name for name in first_values(form.query) if name not in asked] if form.stream else []


def values_of(form: ListForm) -> dict[str, str]:
    """Return the values of the Lab's fields by field name."""
    texts = {name: value for name, value in asdict(form).items() if name != "stream"}
    return {**texts, "verb": WATCH if form.stream else LIST}


def form_from(values: Mapping[str, str]) -> ListForm:
    """Return the form for the values of the Lab's fields, the inverse of `values_of`."""
    texts = {name: value for name, value in values.items() if name != "verb"}
    return ListForm(**texts, stream=values.get("verb") == WATCH)


def sendable(advice: Advice) -> bool:
    return not why_not(advice)


def why_not(advice: Advice) -> str:
    """Return why the Lab cannot send the advised request, "" if it can.

    A WATCH can be measured only if the server marks the end of its initial events.
    """
    if not advice.tryable:
        return PATTERN_ONLY
    initial = "sendInitialEvents=true" in advice.path or advice.plan.initial_events_defaulted
    return NO_END if verb_of(advice.path) == WATCH and not initial else ""


def cheaper_form(advice: Advice, form: ListForm) -> ListForm:
    """Return `form` with the advised path and headers."""
    return replace(form_of(advice.path, form), accept=accept_of(dict(advice.headers), form))


def cheaper_label(advice: Advice) -> str:
    """Return a label for advice that changes the Accept header; "" for advice that changes the path."""
    accept = accept_of(dict(advice.headers), ListForm())
    return {"metadata": "metadata only", "protobuf": "in protobuf"}.get(accept, "")


def accept_of(headers: Mapping[str, str], form: ListForm) -> str:
    """Return the key of `ACCEPTS` for an Accept header, else the choice of `form`."""
    accept = headers.get("Accept", "")
    if "as=PartialObjectMetadataList" in accept:
        return "metadata"
    return "protobuf" if accept.startswith(ACCEPTS["protobuf"]) else form.accept
