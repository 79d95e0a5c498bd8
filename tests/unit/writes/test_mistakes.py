"""A kept list of mistakes that a real server refuses: each is refused here, at the same field."""

from __future__ import annotations

import copy
import itertools
import re
from typing import Any

import pytest

from ktui.kube.resources import BUILTIN, Resource
from ktui.kube.status import StatusError
from ktui.writes.before_create import prepare
from ktui.writes.defaults import set_defaults
from ktui.writes.objectmeta import fill_new, validate_metadata
from ktui.writes.validation.objects import new_errors, value_errors
from ktui.writes.validation.values.schedules import schedule_fault, time_zone
from tests.unit.writes import device_and_policy_mistakes, mistakes
from tests.unit.writes.mistakes import Mistake

Obj = dict[str, Any]
VALID = mistakes.VALID | device_and_policy_mistakes.VALID
MISTAKES = mistakes.MISTAKES + device_and_policy_mistakes.MISTAKES


def resource(kind: str) -> Resource:
    version = VALID[kind][0]
    return next(r for r in BUILTIN.all() if (r.api_version, r.kind) == (version, kind))


def valid(kind: str) -> Obj:
    version, members = VALID[kind]
    return {"apiVersion": version, "kind": kind, "metadata": {"name": "n"}, **copy.deepcopy(members)}


def changed(mistake: Mistake) -> Obj:
    """The valid object with the mistake in it."""
    obj: Any = valid(mistake.kind)
    steps = [int(s) if s.isdigit() else s for s in re.findall(r"[^.\[\]]+", mistake.path)]
    part: Any = obj
    for step, following in itertools.pairwise(steps):
        if isinstance(step, str) and step not in part:
            part[step] = [] if isinstance(following, int) else {}
        part = part[step]
    last = steps[-1]
    if mistake.value is ...:
        del part[last]
    elif isinstance(last, int) and last == len(part):
        part.append(copy.deepcopy(mistake.value))
    else:
        part[last] = copy.deepcopy(mistake.value)
    return dict(obj)


def causes(kind: str, obj: Obj) -> list[tuple[str, str]]:
    """What a create says of the object, as (field, reason); [] if it is accepted."""
    own = resource(kind)
    set_defaults(obj)
    fill_new(obj, own, "shop" if own.namespaced else "")
    try:
        prepare(obj, 36)
        validate_metadata(obj, own, new_errors(obj, own, 36))
    except StatusError as refused:
        assert refused.code == 422
        return [(cause["field"], cause["reason"]) for cause in (refused.details or {})["causes"]]
    return []


@pytest.mark.parametrize("kind", VALID)
def test_the_objects_without_a_mistake_are_valid(kind: str) -> None:
    obj = valid(kind)
    assert causes(kind, obj) == []
    assert value_errors(resource(kind).id, obj) == []  # as an update sees it, with its defaults


def test_errors_come_in_the_order_of_upstreams_functions() -> None:
    pod = valid("Pod")
    pod["metadata"]["labels"] = {"a": "b c"}
    container = pod["spec"]["containers"][0]
    container |= {"image": "", "ports": [{"containerPort": 0}], "env": [{"name": ""}]}
    container["resources"]["requests"] = {"cpu": "9"}
    container["volumeMounts"] += [{"name": "no", "mountPath": ""}]
    container["livenessProbe"]["httpGet"]["port"] = 0
    pod["spec"] |= {"restartPolicy": "Never!", "tolerations": [{"operator": "Equal"}], "dnsPolicy": "None"}
    pod["spec"]["volumes"] += [{"name": "Two", "hostPath": {"path": "a/../b"}}]
    main = "spec.containers[0]"
    assert [field for field, _ in causes("Pod", pod)] == [
        "metadata.labels",
        "spec.volumes[1].hostPath.path",
        "spec.volumes[1].name",
        f"{main}.image",
        f"{main}.ports[0].containerPort",
        f"{main}.env[0].name",
        f"{main}.volumeMounts[1].name",
        f"{main}.volumeMounts[1].mountPath",
        f"{main}.resources.requests",
        f"{main}.livenessProbe.httpGet.port",
        "spec.restartPolicy",
        "spec.dnsConfig",
        "spec.tolerations[0].operator",
    ]


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda m: f"{m.kind} {m.path}={str(m.value)[:30]}")
def test_a_mistake_is_refused_at_its_field(mistake: Mistake) -> None:
    expected = (mistake.field or mistake.path, mistake.reason)
    assert expected in causes(mistake.kind, changed(mistake))


@pytest.mark.parametrize(
    ("kind", "path", "value", "stored"),
    [
        ("Pod", "spec.containers[0].imagePullPolicy", "", "IfNotPresent"),
        ("Pod", "spec.containers[0].ports[0].protocol", "", "TCP"),
        ("Pod", "spec.containers[0].livenessProbe.periodSeconds", 0, 10),
        ("Pod", "spec.restartPolicy", "", "Always"),
        ("Deployment", "spec.strategy.type", "", "RollingUpdate"),
        ("Service", "spec.type", "", "ClusterIP"),
        ("Service", "spec.ports[0].targetPort", 0, 80),
        ("CronJob", "spec.concurrencyPolicy", "", "Allow"),
        ("PersistentVolume", "spec.persistentVolumeReclaimPolicy", "", "Retain"),
    ],
)
def test_an_empty_value_of_a_plain_type_is_a_missing_one(
    kind: str, path: str, value: Any, stored: Any
) -> None:
    obj: Any = changed(Mistake(kind, path, value, ""))
    assert causes(kind, obj) == []
    for step in re.findall(r"[^.\[\]]+", path):
        obj = obj[int(step) if step.isdigit() else step]
    assert obj == stored


@pytest.mark.parametrize(
    "text",
    [
        "0 0 * * *", "*/15 0-6,20 1 jan-mar,dec MON-fri", "@hourly", "@every 1h30m", "5/10 * ? * 0",
    ],
)  # fmt: skip
def test_valid_schedules(text: str) -> None:
    assert schedule_fault(text) == ""


def test_time_zones_are_those_of_the_machine() -> None:
    assert [list(time_zone(name)) for name in ("UTC", "Europe/Berlin")] == [[], []]
    assert all(list(time_zone(name)) for name in ("", "local", "Europe", "../etc/passwd", "Mars/Olympus"))
