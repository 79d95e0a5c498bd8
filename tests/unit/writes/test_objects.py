"""What writes make of objects: creation, update, deletion."""

from __future__ import annotations

import copy
import datetime
import json
from typing import Any

import pytest

from ktui.kube.resources import BUILTIN, Resource
from ktui.kube.status import StatusError
from ktui.wire.stored_codec import StoredCodec
from ktui.writes.admission.pods import admit_pod, qos_class
from ktui.writes.before_delete import Fate, begin_deletion, grace_seconds
from ktui.writes.before_update import UpdateContext, check_identity, finished_deleting, updated
from ktui.writes.decoding.body import decode_object, summary
from ktui.writes.defaults.workloads import set_defaults
from ktui.writes.metadata.objectmeta import fill_new, generate_name, validate_metadata
from ktui.writes.options import DeleteOptions
from ktui.writes.validation.list_types import duplicates
from tests.unit.writes.bodies import sent

Obj = dict[str, Any]


def resource(name: str, group: str = "", version: str = "v1") -> Resource:
    found = BUILTIN.find(group, version, name)
    assert found is not None
    return found


PODS, CONFIG_MAPS = resource("pods"), resource("configmaps")
knows = StoredCodec().knows


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"", "couldn't get version/kind; json parse error: unexpected end of JSON input (<empty>)"),
        (
            b'{"apiVersion": "v1", "kind"',
            "couldn't get version/kind; json parse error: unexpected end of JSON input "
            '({"apiVersion": "v1", "kind")',
        ),
        (b"[]", "(5b5d)"),
        (b"{" + b" " * 40 + b"?", " ...)"),
        (b'{"a":tru}', "invalid character '}' in literal true (expecting 'e') ({\"a\":tru})"),
        (b'{"a":NaN}', "invalid character 'N' looking for beginning of value ({\"a\":NaN})"),
        (b'{"kind":5}', 'cannot unmarshal number into Go struct field .kind of type string ({"kind":5})'),
        (b'{"apiVersion":"a/b/c"}', 'unexpected GroupVersion string: a/b/c ({"apiVersion":"a/b/c"})'),
    ],
)
def test_bodies_that_are_no_object(body: bytes, message: str) -> None:
    with pytest.raises(StatusError) as caught:
        decode_object(sent(body, "application/json"), CONFIG_MAPS, knows)
    assert caught.value.code == 400
    assert caught.value.message.startswith(
        "the object provided is unrecognized (must be of type ConfigMap): "
    )
    assert caught.value.message.endswith(message)


def test_half_a_pair_is_replaced() -> None:
    obj = decode_object(sent(b'{"data":{"a":"\\ud800","b":"\\ud83d\\ude00"}}'), CONFIG_MAPS, knows)
    assert obj["data"] == {"a": "\ufffd", "b": "\U0001f600"}


def test_null_is_an_object_that_says_nothing() -> None:
    assert decode_object(sent(b"null"), CONFIG_MAPS, knows) == {"kind": "ConfigMap", "apiVersion": "v1"}


def test_kind_and_version_may_be_left_out_of_built_ins() -> None:
    obj = decode_object(sent(b'{"metadata":{"name":"x"}}'), CONFIG_MAPS, knows)
    assert (obj["kind"], obj["apiVersion"]) == ("ConfigMap", "v1")


def test_another_kind_is_refused() -> None:
    with pytest.raises(StatusError, match=r"Secret in version .* cannot be handled as a ConfigMap"):
        decode_object(sent(b'{"apiVersion":"v1","kind":"Secret"}', "application/json"), CONFIG_MAPS, knows)


def test_other_media_types_are_refused() -> None:
    with pytest.raises(StatusError) as caught:
        decode_object(sent(b"{}", "text/plain"), CONFIG_MAPS, knows)
    assert caught.value.code == 415


def test_long_bodies_are_summarized() -> None:
    assert summary(b'{"metadata": {"name": "w-nokind"}}') == '{"metadata": {"name": "w-nokin ...'


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


@pytest.mark.parametrize(
    ("resources", "wanted"),
    [
        ({}, "BestEffort"),
        ({"requests": {"cpu": "1"}}, "Burstable"),
        ({"limits": {"cpu": "1", "memory": "1Gi"}}, "Guaranteed"),
        ({"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "500m"}}, "Burstable"),
    ],
)
def test_qos(resources: Obj, wanted: str) -> None:
    assert qos_class({"containers": [{"resources": resources}]}) == wanted


def config_map(**metadata: Any) -> Obj:
    base = {"name": "c", "namespace": "shop", "uid": "u", "resourceVersion": "7"}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {**base, **metadata}, "data": {"a": "1"}}


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


def pod(**members: Any) -> Obj:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "c", "namespace": "shop", "generation": 1},
        "spec": {"nodeName": "n"},
        "status": {"phase": "Pending"},
        **members,
    }


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


BOUND = pod()
NOW = datetime.datetime(2030, 1, 1, tzinfo=datetime.UTC)
GONE = {"deletionTimestamp": "2029-12-31T23:00:00Z", "deletionGracePeriodSeconds": 0}
ENDING = {"deletionTimestamp": "2030-01-01T00:00:20Z", "deletionGracePeriodSeconds": 30}
JOB = {"kind": "Job", "apiVersion": "batch/v1", "metadata": {}}


@pytest.mark.parametrize(
    ("obj", "options", "fate"),
    [
        (config_map(), DeleteOptions(), Fate.REMOVE),
        (config_map(finalizers=["a/b"]), DeleteOptions(), Fate.MARK),
        (config_map(finalizers=["a/b"], **GONE), DeleteOptions(), Fate.NOTHING),
        (config_map(), DeleteOptions(policy="Foreground"), Fate.MARK),
        (config_map(finalizers=["orphan"]), DeleteOptions(policy="Background"), Fate.REMOVE),
        (BOUND, DeleteOptions(), Fate.MARK),
        (BOUND, DeleteOptions(grace_seconds=0), Fate.MARK_AND_REMOVE),
        (pod(spec={}), DeleteOptions(), Fate.MARK_AND_REMOVE),
        (pod(status={"phase": "Failed"}), DeleteOptions(), Fate.MARK_AND_REMOVE),
        (
            {**BOUND, "metadata": {**ENDING}},
            DeleteOptions(),
            Fate.NOTHING,
        ),
        (
            {**BOUND, "metadata": {**ENDING}},
            DeleteOptions(grace_seconds=0),
            Fate.MARK_AND_REMOVE,
        ),
        ({"kind": "Namespace", "spec": {"finalizers": ["kubernetes"]}}, DeleteOptions(), Fate.MARK),
        (JOB, DeleteOptions(), Fate.MARK),
        (JOB, DeleteOptions(policy="Background"), Fate.REMOVE),
        ({**JOB, "apiVersion": "v1", "kind": "ReplicationController"}, DeleteOptions(), Fate.MARK),
        ({**JOB, "apiVersion": "batch/v1", "kind": "CronJob"}, DeleteOptions(), Fate.REMOVE),
        ({"kind": "Event", "metadata": {}}, DeleteOptions(policy="Foreground"), Fate.REMOVE),
    ],
)
def test_fates(obj: Obj, options: DeleteOptions, fate: Fate) -> None:
    assert begin_deletion(obj, options, NOW)[0] is fate


def test_a_marked_pod_has_its_grace() -> None:
    metadata = begin_deletion(BOUND, DeleteOptions(), NOW)[1]["metadata"]
    assert metadata["deletionTimestamp"] == "2030-01-01T00:00:30Z"
    assert metadata["deletionGracePeriodSeconds"] == 30
    assert metadata["generation"] == 2
    assert grace_seconds(BOUND, DeleteOptions(grace_seconds=5)) == 5


@pytest.mark.parametrize(
    ("seconds", "end", "grace"),
    [(25, "2030-01-01T00:00:15Z", 25), (5, "2030-01-01T00:00:00Z", 1), (0, "2030-01-01T00:00:00Z", 0)],
)
def test_a_shorter_grace_period_ends_at_the_earliest_now(seconds: int, end: str, grace: int) -> None:
    ending = {**BOUND, "metadata": {**ENDING}}
    metadata = begin_deletion(ending, DeleteOptions(grace_seconds=seconds), NOW)[1]["metadata"]
    assert (metadata["deletionTimestamp"], metadata["deletionGracePeriodSeconds"]) == (end, grace)


@pytest.mark.parametrize(
    ("present", "policy", "wanted"),
    [
        ([], "", ["orphan"]),
        (["a/b", "foregroundDeletion"], "", ["a/b", "foregroundDeletion"]),
        (["foregroundDeletion", "a/b"], "Orphan", ["a/b", "orphan"]),
        (["orphan", "a/b"], "Orphan", ["orphan", "a/b"]),
    ],
)
def test_the_collectors_finalizers_of_a_job(present: list[str], policy: str, wanted: list[str]) -> None:
    job = {**JOB, "metadata": {"finalizers": present}}
    assert begin_deletion(job, DeleteOptions(policy=policy), NOW)[1]["metadata"]["finalizers"] == wanted


def test_a_deleted_object_goes_with_its_last_finalizer() -> None:
    assert finished_deleting(config_map(deletionTimestamp="t", deletionGracePeriodSeconds=0))
    assert not finished_deleting(config_map(deletionTimestamp="t", finalizers=["a/b"]))
    assert not finished_deleting(config_map())


WIDGETS = Resource(
    "g.io", "v1", "ws", "W", "w", True, versions=("v1", "v2"), custom=True, schemas={"v1": {}, "v0": {}}
)


@pytest.mark.parametrize(
    ("where", "api_version", "kind", "code", "message"),
    [
        (
            CONFIG_MAPS,
            "v1",
            "Secret",
            400,
            'Secret in version "v1" cannot be handled as a ConfigMap: '
            "converting (v1.Secret) to (core.ConfigMap): unknown conversion",
        ),
        (
            CONFIG_MAPS,
            "v1",
            "Gadget",
            400,
            'Gadget in version "v1" cannot be handled as a ConfigMap: no kind "Gadget" is registered for '
            'version "v1" in scheme "k8s.io/kubernetes/pkg/api/legacyscheme/scheme.go:30"',
        ),
        (
            resource("horizontalpodautoscalers", "autoscaling", "v2"),
            "autoscaling/v1",
            "HorizontalPodAutoscaler",
            400,
            "the API version in the data (autoscaling/v1) does not match the expected API version "
            "(autoscaling/v2)",
        ),
        (
            resource("events", "events.k8s.io"),
            "v1",
            "Event",
            400,
            "the API version in the data (v1) does not match the expected API version (events.k8s.io/v1)",
        ),
        (
            WIDGETS,
            "g.io/v2",
            "W",
            400,
            "the API version in the data (g.io/v2) does not match the expected API version (g.io/v1)",
        ),
        (
            WIDGETS,
            "apps/v1",
            "W",
            400,
            "the API version in the data (apps/v1) does not match the expected API version (g.io/v1)",
        ),
        (WIDGETS, "g.io/v1", "X", 422, 'X.g.io "n" is invalid: kind: Invalid value: "X": must be W'),
    ],
)
def test_objects_of_another_kind(
    where: Resource, api_version: str, kind: str, code: int, message: str
) -> None:
    body = json.dumps({"apiVersion": api_version, "kind": kind, "metadata": {"name": "n"}}).encode()
    with pytest.raises(StatusError) as caught:
        decode_object(sent(body), where, knows)
    assert (caught.value.code, caught.value.message) == (code, message)


@pytest.mark.parametrize(
    ("spec", "errors"),
    [
        ({"set": ["a", "b"], "plain": ["a", "a"]}, []),
        ({"set": ["a", "a", "a"]}, ['spec.set[1]: Duplicate value: "a"']),
        ({"set": [1, True, 1.5]}, []),
        ({"map": [{"k": "a", "v": 1}, {"k": "a", "v": 2}]}, ['spec.map[1]: Duplicate value: {"k":"a"}']),
        ({"map": [{"v": 1}, {"v": 2}]}, ["spec.map[1]: Duplicate value: {}"]),
        ({"in": {"x": ["a", "a"]}}, ['spec.in[x][1]: Duplicate value: "a"']),
    ],
)
def test_nothing_stands_twice_in_a_set_or_a_keyed_list(spec: Obj, errors: list[str]) -> None:
    once = {"type": "array", "x-kubernetes-list-type": "set"}
    keyed = {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"]}
    members = {"set": once, "map": keyed, "plain": {"type": "array"}, "in": {"additionalProperties": once}}
    schema = {"properties": {"spec": {"properties": members}}}
    assert list(map(str, duplicates({"spec": spec}, schema))) == errors
