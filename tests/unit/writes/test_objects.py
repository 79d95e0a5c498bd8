"""Creation and update of objects."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from ktui.kube.resources import Resource
from ktui.kube.status import StatusError
from ktui.writes.admission.mutation import admit_pod, qos_class
from ktui.writes.before_update import UpdateContext, check_identity, updated
from ktui.writes.defaults import set_defaults
from ktui.writes.objectmeta import fill_new, generate_name, validate_metadata
from tests.unit.writes.objects import CONFIG_MAPS, PODS, Obj, config_map, pod, resource


def test_a_new_object_gets_its_metadata() -> None:
    obj: Obj = {"kind": "Pod", "metadata": {"generateName": "web-", "uid": "theirs", "generation": 9}}
    fill_new(obj, PODS, "shop")
    metadata = obj["metadata"]
    assert metadata["namespace"] == "shop"
    assert metadata["name"].startswith("web-") and len(metadata["name"]) == 9
    assert metadata["uid"] != "theirs"
    assert metadata["generation"] == 1
    assert metadata["creationTimestamp"].endswith("Z")


def test_generated_names_fit() -> None:
    assert len(generate_name("x" * 300)) == 63


@pytest.mark.parametrize(
    ("metadata", "code"),
    [({"name": "a", "resourceVersion": "5"}, 500), ({"name": "a", "namespace": "other"}, 400)],
)
def test_what_a_new_object_must_not_have(metadata: Obj, code: int) -> None:
    with pytest.raises(StatusError) as caught:
        fill_new({"kind": "Pod", "metadata": metadata}, PODS, "shop")
    assert caught.value.code == code


@pytest.mark.parametrize(
    ("metadata", "field"),
    [
        ({}, "metadata.name"),
        ({"name": "Bad_Name"}, "metadata.name"),
        ({"name": "a", "labels": {"x": "?"}}, "metadata.labels"),
        ({"name": "a", "finalizers": ["hold"]}, "metadata.finalizers[0]"),
    ],
)
def test_invalid_metadata(metadata: Obj, field: str) -> None:
    with pytest.raises(StatusError) as caught:
        validate_metadata({"metadata": metadata}, CONFIG_MAPS)
    assert caught.value.code == 422
    assert caught.value.body()["details"]["causes"][0]["field"] == field


def test_a_pod_gets_its_defaults() -> None:
    pod: Obj = {"kind": "Pod", "spec": {"containers": [{"name": "a", "image": "x"}, {"image": "r:5000/x:1"}]}}
    set_defaults(pod)
    spec = pod["spec"]
    assert [c["imagePullPolicy"] for c in spec["containers"]] == ["Always", "IfNotPresent"]
    assert spec["restartPolicy"] == "Always"
    assert spec["terminationGracePeriodSeconds"] == 30
    set_defaults(pod)  # nothing more to add
    assert spec["enableServiceLinks"] is True


def test_admission_of_a_bound_pod() -> None:
    pod: Obj = {"kind": "Pod", "metadata": {"labels": {"app": "x"}}, "spec": {"nodeName": "n"}}
    zone = {"topology.kubernetes.io/zone": "eu-1a"}
    admit_pod(pod, {"metadata": {"labels": {**zone, "kubernetes.io/os": "linux"}}}, 35)
    assert pod["metadata"]["labels"] == {"app": "x", **zone}
    assert [t["key"] for t in pod["spec"]["tolerations"]] == [
        "node.kubernetes.io/not-ready",
        "node.kubernetes.io/unreachable",
    ]
    assert pod["status"] == {"phase": "Pending", "qosClass": "BestEffort"}


def test_topology_labels_are_new_in_1_35() -> None:
    pod: Obj = {"metadata": {}, "spec": {"nodeName": "n"}}
    admit_pod(pod, {"metadata": {"labels": {"topology.kubernetes.io/zone": "eu-1a"}}}, 34)
    assert "labels" not in pod["metadata"]


def test_a_toleration_of_everything_needs_no_more() -> None:
    pod: Obj = {"spec": {"tolerations": [{"operator": "Exists"}]}}
    admit_pod(pod, None, 36)
    assert pod["spec"]["tolerations"] == [{"operator": "Exists"}]


LIMITS = {"cpu": "1", "memory": "1Gi"}


@pytest.mark.parametrize(
    ("resources", "wanted"),
    [
        ({}, "BestEffort"),
        ({"requests": {"cpu": "1"}}, "Burstable"),
        ({"limits": LIMITS, "requests": LIMITS}, "Guaranteed"),
        ({"limits": LIMITS, "requests": {"cpu": "1000m", "memory": "1024Mi"}}, "Guaranteed"),
        ({"limits": {"cpu": "1"}, "requests": {"cpu": "1"}}, "Burstable"),
        ({"limits": {"x.io/a": "1"}, "requests": {"cpu": "0"}}, "BestEffort"),
        ({"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "500m"}}, "Burstable"),
    ],
)
def test_qos(resources: Obj, wanted: str) -> None:
    assert qos_class({"containers": [{"resources": resources}]}) == wanted
    assert qos_class({"containers": [{}], "resources": resources}) == wanted


def context(whole: bool = True, subresource: str = "", of: Resource = CONFIG_MAPS) -> UpdateContext:
    return UpdateContext(of, "shop", "c", subresource, "me", whole)


def test_an_update_at_another_version_conflicts() -> None:
    with pytest.raises(StatusError) as caught:
        updated(config_map(), config_map(resourceVersion="6"), context())
    assert caught.value.code == 409


@pytest.mark.parametrize(("whole", "code"), [(True, 409), (False, 422)])
def test_the_uid_never_changes(whole: bool, code: int) -> None:
    with pytest.raises(StatusError) as caught:
        updated(config_map(), config_map(uid="other"), context(whole))
    assert caught.value.code == code


def test_a_lease_is_updated_at_a_version_only() -> None:
    leases = resource("leases", "coordination.k8s.io")
    with pytest.raises(StatusError, match="must be specified for an update"):
        updated(config_map(), config_map(resourceVersion=""), context(of=leases))


def test_the_servers_own_metadata_stays() -> None:
    old = config_map(creationTimestamp="then")
    new = updated(old, config_map(creationTimestamp="now", generation=4), context())
    assert new["metadata"]["creationTimestamp"] == "then"
    assert "generation" not in new["metadata"]


def deployment(**members: Any) -> Obj:
    return pod(apiVersion="apps/v1", kind="Deployment", **{"spec": {"replicas": 1}, **members})


def test_the_status_changes_through_its_subresource_only() -> None:
    deployments = resource("deployments", "apps")
    pod = {"containers": [{"name": "c", "image": "i"}]}
    selector = {
        "selector": {"matchLabels": {"a": "b"}},
        "template": {"metadata": {"labels": {"a": "b"}}, "spec": pod},
    }
    old = deployment(spec={"replicas": 1, **selector})
    new = deployment(status={"phase": "Running"}, spec={"replicas": 2, **selector})
    by_status = updated(old, copy.deepcopy(new), context(whole=False, subresource="status", of=deployments))
    assert (by_status["spec"]["replicas"], by_status["status"]) == (1, {"phase": "Running"})
    by_main = updated(old, copy.deepcopy(new), context(whole=False, of=deployments))
    assert (by_main["spec"]["replicas"], by_main["status"]) == (2, {"phase": "Pending"})
    assert by_main["metadata"]["generation"] == 2
    assert by_status["metadata"]["generation"] == 1


def test_what_is_wrong_is_told_together_in_upstreams_order() -> None:
    """The metadata, then what must not change, then a config map's metadata and data once more."""
    old = {**config_map(), "immutable": True, "data": {"a": "1"}}
    new = {**config_map(labels={"a": "?"}), "immutable": True, "data": {"?": "1"}}
    with pytest.raises(StatusError) as caught:
        updated(old, new, context())
    causes = caught.value.body()["details"]["causes"]
    label = "metadata.labels"
    assert [cause["field"] for cause in causes] == [label, label, label, "data", label, "data[?]"]


def test_the_metadata_of_what_is_immutable_may_change() -> None:
    old = {**config_map(), "immutable": True, "data": {"a": "1"}}
    new = {**config_map(labels={"a": "b"}), "immutable": True, "data": {"a": "1"}}
    assert updated(old, new, context())["metadata"]["labels"] == {"a": "b"}


@pytest.mark.parametrize(("member", "value"), [("name", "other"), ("namespace", "other")])
def test_the_object_is_the_one_that_the_path_names(member: str, value: str) -> None:
    with pytest.raises(StatusError, match="does not match"):
        check_identity(config_map(**{member: value}), context())
