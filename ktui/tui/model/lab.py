"""The LIST that is being composed: its fields, its path, the forms of a race."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace
from urllib.parse import quote

from ktui.kube.resources import Resource

# Legal unescaped in a query value (RFC 3986) and easier to read so: app=web,tier!=db
_READABLE = "=,!():/@.-_~"
PAGE = 500  # what kubectl asks for by default
ACCEPTS = {
    "json": "application/json",
    "table": "application/json;as=Table;v=v1;g=meta.k8s.io",
    "metadata": "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
    "protobuf": "application/vnd.kubernetes.protobuf",
}
MATCHES = ("", "NotOlderThan", "Exact")


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

    @property
    def query(self) -> str:
        """The parameters that are set, in the order in which Kubernetes documents them."""
        parameters = (
            ("labelSelector", self.label_selector),
            ("fieldSelector", self.field_selector),
            ("limit", self.limit),
            ("continue", self.continue_token),
            ("resourceVersion", self.resource_version),
            ("resourceVersionMatch", self.match),
        )
        return "&".join(f"{name}={quote(value, safe=_READABLE)}" for name, value in parameters if value)

    @property
    def accept_header(self) -> str:
        return ACCEPTS.get(self.accept, ACCEPTS["json"])

    @property
    def pages(self) -> bool:
        """Whether the answer is bounded by a limit, so that a next page may exist."""
        return self.limit.isdigit() and int(self.limit) > 0


def path_of(form: ListForm, resource: Resource) -> str:
    """`/api/v1/namespaces/team-00/pods?limit=500`; a cluster-scoped resource has no namespace."""
    path = resource.path
    if form.namespace and resource.namespaced:
        root = path.removesuffix(resource.resource)
        path = f"{root}namespaces/{quote(form.namespace, safe='')}/{resource.resource}"
    return f"{path}?{form.query}" if form.query else path


@dataclass(frozen=True, slots=True)
class RaceForm:
    """One way to ask the question. `all_pages`: fired until there is no continue token."""

    label: str
    form: ListForm
    all_pages: bool = False


def race_forms(form: ListForm, current_rv: int) -> list[RaceForm]:
    """Six ways to ask what `form` asks; `current_rv` is where NotOlderThan and Exact are put."""
    plain = replace(form, resource_version="", match="", limit="", continue_token="")
    at = replace(plain, resource_version=str(current_rv))
    page = form.limit if form.pages else str(PAGE)
    return [
        RaceForm("unset", plain),
        RaceForm("rv=0", replace(plain, resource_version="0")),
        RaceForm(f"pages of {page}", replace(plain, limit=page), all_pages=True),
        RaceForm("NotOlderThan", replace(at, match="NotOlderThan")),
        RaceForm("Exact", replace(at, match="Exact")),
        _sixth(form, plain),
    ]


def _sixth(form: ListForm, plain: ListForm) -> RaceForm:
    """What the selector saves, or else what leaving out spec and status saves."""
    if form.label_selector or form.field_selector:
        return RaceForm("no selector", replace(plain, label_selector="", field_selector=""))
    other = "json" if form.accept == "metadata" else "metadata"
    return RaceForm("whole objects" if other == "json" else "metadata only", replace(plain, accept=other))


def as_curl(path: str, form: ListForm) -> str:
    """For a shell in which SERVER, TOKEN and CA are set: no secret is shown."""
    words = ['--cacert "$CA" -H "Authorization: Bearer $TOKEN"']
    if form.accept != "json":
        words.append(f"-H {shlex.quote(f'Accept: {form.accept_header}')}")
    return f'curl -sS {" ".join(words)} "$SERVER"{shlex.quote(path)}'


def as_kubectl(path: str) -> str:
    return f"kubectl get --raw {shlex.quote(path)}"
