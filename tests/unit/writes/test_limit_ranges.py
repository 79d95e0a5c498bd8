"""LimitRanger's defaults and bounds, with upstream's texts."""

from __future__ import annotations

from typing import Any

import pytest

from ktui.kube.status import StatusError
from ktui.writes.admission.limit_ranges import ANNOTATION, check_limits, set_defaults
from ktui.writes.admission.pod_resources import pod_total

from .objects import resource

Obj = dict[str, Any]


def pod(*containers: Obj, init: tuple[Obj, ...] = (), **spec: Any) -> Obj:
    return {
        "metadata": {"name": "p"},
        "spec": {"containers": list(containers), "initContainers": list(init), **spec},
    }


def container(name: str = "c", *, requests: Obj | None = None, limits: Obj | None = None, **more: Any) -> Obj:
    resources = {
        which: values for which, values in (("requests", requests), ("limits", limits)) if values is not None
    }
    return {"name": name, "resources": resources, **more}


def test_defaults_are_set_and_said() -> None:
    new = pod(container(limits={"cpu": "1"}, requests={"cpu": "1"}), init=(container("i"),))
    limit = {
        "type": "Container",
        "default": {"cpu": "500m", "memory": "256Mi"},
        "defaultRequest": {"cpu": "100m", "memory": "128Mi"},
    }
    set_defaults(new, [limit])
    (first,), (init,) = new["spec"]["containers"], new["spec"]["initContainers"]
    assert first["resources"]["requests"] == {"cpu": "1", "memory": "128Mi"}
    assert first["resources"]["limits"] == {"cpu": "1", "memory": "256Mi"}
    assert init["resources"] == {"requests": limit["defaultRequest"], "limits": limit["default"]}
    assert new["metadata"]["annotations"][ANNOTATION] == (
        "LimitRanger plugin set: memory request for container c; memory limit for container c; "
        "cpu, memory request for init container i; cpu, memory limit for init container i"
    )


NONE = "minimum cpu usage per Container is 100m.  No request is specified"
BOUNDS = [
    ("min", "100m", container(), NONE),
    ("min", "100m", container(requests={"cpu": "50m"}),
     "minimum cpu usage per Container is 100m, but request is 50m"),
    ("min", "100m", container(requests={"cpu": "0.1"}), ""),
    ("min", "100m", container(requests={"cpu": "1"}, limits={"cpu": "1m"}),
     "minimum cpu usage per Container is 100m, but limit is 1m"),
    ("max", "1", container(), "maximum cpu usage per Container is 1.  No limit is specified"),
    ("max", "1", container(limits={"cpu": "1001m"}),
     "maximum cpu usage per Container is 1, but limit is 1001m"),
    ("max", "1", container(limits={"cpu": "1"}, requests={"cpu": "2"}),
     "maximum cpu usage per Container is 1, but request is 2"),
    ("max", "1", container(limits={"cpu": "1"}), ""),
    ("maxLimitRequestRatio", "2", container(limits={"cpu": "1"}),
     "cpu max limit to request ratio per Container is 2, but no request is specified or request is 0"),
    ("maxLimitRequestRatio", "2", container(requests={"cpu": "1"}),
     "cpu max limit to request ratio per Container is 2, but no limit is specified or limit is 0"),
    ("maxLimitRequestRatio", "2", container(limits={"cpu": "3"}, requests={"cpu": "1"}),
     "cpu max limit to request ratio per Container is 2, but provided ratio is 3.000000"),
    ("maxLimitRequestRatio", "2", container(limits={"cpu": "2"}, requests={"cpu": "1"}), ""),
]  # fmt: skip


@pytest.mark.parametrize(("bound", "value", "one", "why"), BOUNDS)
def test_bounds_of_containers(bound: str, value: str, one: Obj, why: str) -> None:
    assert refusal("pods", pod(one), {"type": "Container", bound: {"cpu": value}}) == (
        why and f'pods "p" is forbidden: {why}'
    )


def refusal(plural: str, obj: Obj, limit: Obj) -> str:
    try:
        check_limits(resource(plural), obj, [[limit]])
    except StatusError as error:
        assert (error.code, error.reason) == (403, "Forbidden")
        return error.message
    return ""


def test_a_pod_is_the_sum_of_its_containers() -> None:
    two = pod(container(limits={"memory": "768Mi"}), container(limits={"memory": "512Mi"}))
    assert refusal("pods", two, {"type": "Pod", "max": {"memory": "1Gi"}}) == (
        'pods "p" is forbidden: maximum memory usage per Pod is 1Gi, but limit is 1280Mi'
    )
    both = {"type": "Container", "min": {"cpu": "1"}, "max": {"cpu": "1"}}
    assert refusal("pods", pod(container()), both) == (
        'pods "p" is forbidden: [minimum cpu usage per Container is 1.  No request is specified, '
        "maximum cpu usage per Container is 1.  No limit is specified]"
    )


def test_claims() -> None:
    claim = {"metadata": {"name": "d"}, "spec": {"resources": {"requests": {"storage": "5Gi"}}}}
    limit = {"type": "PersistentVolumeClaim", "min": {"storage": "1Gi"}, "max": {"storage": "4Gi"}}
    assert refusal("persistentvolumeclaims", claim, limit) == (
        'persistentvolumeclaims "d" is forbidden: '
        "maximum storage usage per PersistentVolumeClaim is 4Gi, but request is 5Gi"
    )


CPU = {"cpu": "1"}
TOTALS = [
    (pod(container(requests=CPU), container(requests={"cpu": "500m"})), "1500m"),
    (pod(container(requests=CPU), init=(container(requests={"cpu": "3"}),)), "3"),
    (pod(container(requests=CPU), init=(container(requests=CPU, restartPolicy="Always"),)), "2"),
    (pod(container(requests=CPU), init=(container(requests=CPU, restartPolicy="Always"),
                                        container(requests={"cpu": "2"}))), "3"),
    (pod(container(requests=CPU), overhead={"cpu": "250m"}), "1250m"),
    (pod(container(requests=CPU), resources={"requests": {"cpu": "4"}}), "4"),
]  # fmt: skip


@pytest.mark.parametrize(("one", "cpu"), TOTALS)
def test_totals_of_pods(one: Obj, cpu: str) -> None:
    assert pod_total(one["spec"], "requests") == {"cpu": cpu}
