"""The same request as command line and as program."""

import ast
import shlex

import pytest

from ktui.contract.events import RequestStarted
from ktui.core.lab.form import ACCEPTS, ListForm, path_of
from ktui.core.rows import RequestRow
from ktui.core.snippets import as_client_go, as_curl, as_kubectl, as_python, client_go_note, read_as_curl
from ktui.kube.resources import BUILTIN, Resource

WIDGETS = Resource("example.com", "v1", "widgets", "Widget", "widget", True, custom=True)


def resource(name: str) -> Resource:
    found = BUILTIN.by_name(name)
    assert found is not None, name
    return found


def test_command_lines_keep_the_shell_out_of_it() -> None:
    path = path_of(ListForm(label_selector="a=$(reboot)"), resource("pods"))
    assert shlex.split(as_kubectl(path)) == ["kubectl", "get", "--raw", path]
    words = shlex.split(as_curl(path, ListForm(accept="table")))
    assert words[-1] == f"$SERVER{path}"
    assert "Accept: application/json;as=Table;v=v1;g=meta.k8s.io" in words


@pytest.mark.parametrize(
    ("verb", "accept", "asked"),
    [
        ("LIST", "", ["-sS"]),
        ("LIST", "*/*", ["-sS"]),
        ("LIST", ACCEPTS["table"], ["-sS", "-H", f"Accept: {ACCEPTS['table']}"]),
        ("WATCH", "application/json", ["-sSN"]),
        ("GET", "a'$(reboot)", ["-sS", "-H", "Accept: a'$(reboot)"]),
    ],
)
def test_a_read_is_repeated_as_it_was_sent(verb: str, accept: str, asked: list[str]) -> None:
    started = RequestStarted(
        at=0.0, id=1, verb=verb, path="/api/v1/pods", query="watch=1", resource="pods", namespace="", name="",
        client="", user_agent="", accept=accept,
    )  # fmt: skip
    words = shlex.split(read_as_curl(RequestRow(started), "https://127.0.0.1:6443"))
    credentials = ["--cacert", "$KTUI_CA", "-H", "Authorization: Bearer $KTUI_TOKEN"]
    assert words == ["curl", asked[0], *credentials, *asked[1:], "https://127.0.0.1:6443/api/v1/pods?watch=1"]


@pytest.mark.parametrize(
    ("name", "go", "python"),
    [
        ("pods", "CoreV1().Pods(metav1.NamespaceAll)", "CoreV1Api().list_pod_for_all_namespaces("),
        ("nodes", "CoreV1().Nodes()", "CoreV1Api().list_node("),
        ("endpoints", "CoreV1().Endpoints(", "list_endpoints_for_all_namespaces("),
        (
            "networkpolicies",
            "NetworkingV1().NetworkPolicies(",
            "NetworkingV1Api().list_network_policy_for_all",
        ),
        ("ingressclasses", "NetworkingV1().IngressClasses()", "NetworkingV1Api().list_ingress_class("),
        ("endpointslices", "DiscoveryV1().EndpointSlices(", "DiscoveryV1Api().list_endpoint_slice_for_all"),
        ("clusterroles", "RbacV1().ClusterRoles()", "RbacAuthorizationV1Api().list_cluster_role("),
        ("leases", "CoordinationV1().Leases(", "CoordinationV1Api().list_lease_for_all_namespaces("),
        ("csinodes", "StorageV1().CSINodes()", "StorageV1Api().list_csi_node("),
        ("flowschemas", "FlowcontrolV1().FlowSchemas()", "FlowcontrolApiserverV1Api().list_flow_schema("),
        ("deployments", "AppsV1().Deployments(", "AppsV1Api().list_deployment_for_all_namespaces("),
    ],
)
def test_calls_have_the_names_of_the_clients(name: str, go: str, python: str) -> None:
    assert go in as_client_go(ListForm(), resource(name))
    assert python in as_python(ListForm(), resource(name))


def test_options_are_those_of_the_form() -> None:
    form = ListForm(
        namespace="team-00",
        label_selector='app in (a,"b")',
        resource_version="5",
        match="Exact",
        limit="50",
        continue_token="abc",
    )
    go = as_client_go(form, resource("pods"))
    assert 'Pods("team-00").List(ctx, metav1.ListOptions{' in go
    for option in (
        r'LabelSelector: "app in (a,\"b\")"',
        'ResourceVersion: "5"',
        'ResourceVersionMatch: "Exact"',
        'Continue: "abc"',
        "Limit: 50",
    ):
        assert f"\n\t{option}," in go
    call = ast.parse(as_python(form, resource("pods"))).body[-1]
    assert isinstance(call, ast.Assign) and isinstance(call.value, ast.Call)
    assert [ast.literal_eval(argument) for argument in call.value.args] == ["team-00"]
    assert {one.arg: ast.literal_eval(one.value) for one in call.value.keywords} == {
        "label_selector": 'app in (a,"b")',
        "resource_version": "5",
        "resource_version_match": "Exact",
        "_continue": "abc",
        "limit": 50,
    }


def test_a_watch_list_watches() -> None:
    form = ListForm(stream=True)
    go = as_client_go(form, resource("pods"))
    assert 'ResourceVersionMatch: "NotOlderThan"' in go, (
        "without it the server refuses: seen with client-go 0.36"
    )
    assert "w, err := clientset.CoreV1().Pods(metav1.NamespaceAll).Watch(ctx" in go
    assert "SendInitialEvents: ptr.To(true)" in go
    python = as_python(form, resource("pods"))
    ast.parse(python)
    assert "resource_version_match='NotOlderThan'" in python
    assert "watch.Watch().stream(" in python and "send_initial_events=True" in python
    path = path_of(form, resource("pods"))
    assert "sendInitialEvents=true" in path and "watch=1" in path


def test_custom_resources_and_metadata_have_clients_of_their_own() -> None:
    go = as_client_go(ListForm(namespace="a"), WIDGETS)
    assert 'Group: "example.com", Version: "v1", Resource: "widgets"' in go
    assert go.startswith("list, err := dynamicClient.") and 'Namespace("a")' in go
    assert as_client_go(ListForm(accept="metadata"), resource("pods")).startswith(
        "list, err := metadataClient."
    )
    python = as_python(ListForm(namespace="a"), WIDGETS)
    ast.parse(python)
    assert "CustomObjectsApi().list_namespaced_custom_object(" in python
    assert "does not ask for metadata" in as_python(ListForm(accept="metadata"), resource("pods"))


PAGES = """\
options := metav1.ListOptions{Limit: 500}
for {
\tlist, err := clientset.CoreV1().Pods(metav1.NamespaceAll).List(ctx, options)
\tif err != nil {
\t\treturn err
\t}
\t// list.Items
\tif options.Continue = list.GetContinue(); options.Continue == "" {
\t\tbreak
\t}
}"""


def test_all_pages_are_a_loop() -> None:
    assert as_client_go(ListForm(limit="500"), resource("pods"), all_pages=True) == PAGES
    assert "for {" not in as_client_go(ListForm(limit="500"), resource("pods"))


def test_which_media_type_a_typed_client_asks_for_is_not_in_its_call() -> None:
    assert "application/json" in client_go_note(ListForm(), resource("pods"))
    assert "protobuf" in client_go_note(ListForm(accept="protobuf"), resource("pods"))
    assert client_go_note(ListForm(), WIDGETS) == client_go_note(ListForm(accept="metadata"), WIDGETS) == ""
