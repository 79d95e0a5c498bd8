"""A LIST as code for curl, kubectl, client-go and Python. The code contains no secret."""

from __future__ import annotations

import json
import re
import shlex

from ktui.core.lab.form import ListForm
from ktui.core.rows import RequestRow
from ktui.kube.resources import Resource

# Groups to which the Go and Python clients give no typed access by the common rule.
_NOT_IN_CLIENT_GO = {"apiextensions.k8s.io", "apiregistration.k8s.io"}
_PLAIN_JSON = ("", "*/*", "application/json")  # as curl asks by itself
# The media type that typed clients request by default depends on their release (0.36: protobuf).
_GO_NOTES = {
    "json": '// asks for JSON if config.ContentType = "application/json"\n',
    "protobuf": '// asks for protobuf if config.ContentType = "application/vnd.kubernetes.protobuf"\n',
    "table": "// objects: a typed client does not ask for Tables\n",
}
_GO_PAGES = """\
options := {options}
for {{
\tlist, err := {call}.List(ctx, options)
\tif err != nil {{
\t\treturn err
\t}}
\t// list.Items
\tif options.Continue = list.GetContinue(); options.Continue == "" {{
\t\tbreak
\t}}
}}"""


def as_kubectl(path: str) -> str:
    return f"kubectl get --raw {shlex.quote(path)}"


def as_curl(path: str, form: ListForm) -> str:
    """Return a curl command that uses the shell variables SERVER, TOKEN and CA."""
    return _curl(f'"$SERVER"{shlex.quote(path)}', form.accept_header, stream=form.stream, variables="")


def read_as_curl(row: RequestRow, server: str) -> str:
    """Return a curl command for the same read; it takes the token from ktui's environment variables."""
    stream = row.started.verb == "WATCH"
    return _curl(shlex.quote(server + row.target), row.started.accept, stream=stream, variables="KTUI_")


def _curl(url: str, accept: str, *, stream: bool, variables: str) -> str:
    credentials = f'--cacert "${variables}CA" -H "Authorization: Bearer ${variables}TOKEN"'
    asked = f" -H {shlex.quote(f'Accept: {accept}')}" if accept not in _PLAIN_JSON else ""
    return f"curl -sS{'N' if stream else ''} {credentials}{asked} {url}"


def as_client_go(form: ListForm, resource: Resource, *, all_pages: bool = False) -> str:
    """Return a client-go call: typed for built-in kinds, else dynamic or metadata; `all_pages`: a loop."""
    options = _go_options(form)
    if _is_typed(form, resource):
        # The clientset's method of a group version, `CoreV1`, and the plural with the kind's capitals.
        group = (resource.group.partition(".")[0] or "core").capitalize() + resource.version.capitalize()
        kind, plural, same = resource.kind, resource.resource, 0
        while same < min(len(kind), len(plural)) and kind[same].lower() == plural[same]:
            same += 1
        head = f"clientset.{group}().{kind[:same]}{plural[same:]}"
        namespace = _go(form.namespace) if form.namespace else "metav1.NamespaceAll"
        scope = f"({namespace})" if resource.namespaced else "()"
    else:
        client = "metadataClient" if form.accept == "metadata" else "dynamicClient"
        group = f"Group: {_go(resource.group)}, " if resource.group else ""
        gvr = f"Version: {_go(resource.version)}, Resource: {_go(resource.resource)}"
        head = f"{client}.Resource(schema.GroupVersionResource{{{group}{gvr}}})"
        scope = f".\n\tNamespace({_go(form.namespace)})" if _namespaced(form, resource) else ""
    call, given = f"{head}{scope}", f"metav1.ListOptions{{{options}}}"
    if form.stream:
        return f"w, err := {call}.Watch(ctx, {given})"
    if all_pages and form.pages:
        return _GO_PAGES.format(options=given, call=call.replace("\n", "\n\t"))
    return f"list, err := {call}.List(ctx, {given})"


def client_go_note(form: ListForm, resource: Resource) -> str:
    """Return a Go comment that says how to request the same media type; "" if nothing has to be set."""
    return _GO_NOTES.get(form.accept, "") if _is_typed(form, resource) else ""


def as_python(form: ListForm, resource: Resource) -> str:
    """Return a program that uses the Python package `kubernetes`."""
    options = [
        (f"_{name}" if name == "continue" else _snake_case(name), value) for name, value in _texts(form)
    ]
    arguments = [f"{name}={value!r}" for name, value in options]
    if form.limit:
        arguments.append(f"limit={form.limit}" if form.pages else f"limit={form.limit!r}")
    namespaced = _namespaced(form, resource)
    within = [form.namespace] if namespaced else []
    if resource.custom:
        api = "CustomObjectsApi"
        method = f"list_{'namespaced' if namespaced else 'cluster'}_custom_object"
        place = [resource.group, resource.version, *within, resource.resource]
        arguments = [*(repr(part) for part in place), *arguments]
    else:
        group = (resource.group.removesuffix(".k8s.io") or "core").split(".")  # RbacAuthorizationV1Api
        api = "".join(map(str.capitalize, (*group, resource.version))) + "Api"
        kind = _snake_case(resource.kind)
        everywhere = f"list_{kind}_for_all_namespaces" if resource.namespaced else f"list_{kind}"
        method = f"list_namespaced_{kind}" if namespaced else everywhere
        arguments = [*map(repr, within), *arguments]
    call = f"client.{api}().{method}"
    lines = ["from kubernetes import client, config, watch", "", "config.load_kube_config()"]
    if form.stream:
        asked = ("send_initial_events=True", "allow_watch_bookmarks=True", "timeout_seconds=60")
        inside = "".join(f"    {argument},\n" for argument in [call, *arguments, *asked])
        lines += [f"for event in watch.Watch().stream(\n{inside}):", "    ..."]
    else:
        lines[0] = "from kubernetes import client, config"
        lines.append(f"answer = {call}({_wrapped(arguments)})")
    if form.accept != "json":
        lines.insert(-1, f"# typed answers are plain JSON: this client does not ask for {form.accept}")
    return "\n".join(lines)


def _is_typed(form: ListForm, resource: Resource) -> bool:
    return form.accept != "metadata" and not resource.custom and resource.group not in _NOT_IN_CLIENT_GO


def _namespaced(form: ListForm, resource: Resource) -> bool:
    return resource.namespaced and bool(form.namespace)


def _go(text: str) -> str:
    """Return a Go string literal; Go understands all JSON escapes."""
    return json.dumps(text)


def _texts(form: ListForm) -> list[tuple[str, str]]:
    """Return the parameters whose values are texts, the token last."""
    texts = [(name, value) for name, value in form.parameters.items() if name != "limit"]
    return sorted(texts, key=lambda pair: pair[0] == "continue")


def _go_options(form: ListForm) -> str:
    fields = [f"{name[0].upper()}{name[1:]}: {_go(value)}" for name, value in _texts(form)]
    if form.limit:
        fields.append(f"Limit: {form.limit}" if form.pages else f"Limit: /* {_go(form.limit)} */ 0")
    if form.stream:
        fields += ["SendInitialEvents: ptr.To(true)", "AllowWatchBookmarks: true"]
        fields.append("TimeoutSeconds: ptr.To[int64](60)")
    if len(fields) < 2:
        return "".join(fields)
    return "".join(f"\n\t{field}," for field in fields) + "\n"


def _snake_case(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


def _wrapped(arguments: list[str]) -> str:
    if len(arguments) < 2:
        return "".join(arguments)
    return "\n" + "".join(f"    {argument},\n" for argument in arguments)
