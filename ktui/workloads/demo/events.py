"""Events as kubelets and schedulers record them: the only resource with a lease and without a watch cache."""

from __future__ import annotations

import random
from collections.abc import Iterator

from ktui.workloads.demo.objects import Create, Json, core, timestamp
from ktui.workloads.demo.plan import DemoPlan

_REASONS = (
    ("Normal", "Scheduled", "Successfully assigned {namespace}/{name} to {node}", "default-scheduler"),
    ("Normal", "Pulled", "Container image already present on machine", "kubelet"),
    ("Normal", "Started", "Container started", "kubelet"),
    ("Warning", "Unhealthy", "Readiness probe failed: HTTP probe failed with statuscode: 503", "kubelet"),
    ("Warning", "BackOff", "Back-off restarting failed container main in pod {name}", "kubelet"),
)
PODS_PER_EVENT = 4  # at the start: one event for every fourth pod


def event(namespace: str, name: str, node: str, number: int, now: float) -> Create:
    """Return one event about a pod; `number` makes its name unique and selects its reason."""
    severity, reason, message, component = _REASONS[number % len(_REASONS)]
    body: Json = {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": f"{name}.{number:016x}", "namespace": namespace},
        "involvedObject": {"apiVersion": "v1", "kind": "Pod", "namespace": namespace, "name": name},
        "reason": reason,
        "message": message.format(namespace=namespace, name=name, node=node),
        "type": severity,
        "source": {"component": component, "host": node},
        "firstTimestamp": timestamp(now),
        "lastTimestamp": timestamp(now),
        "count": 1,
    }
    return Create(core(namespace, "events"), body, alike="event")


def events(plan: DemoPlan, now: float) -> Iterator[Create]:
    """Yield the events about every `PODS_PER_EVENT`th pod."""
    rng = random.Random(plan.size.seed)
    for index, (app, ordinal, node) in enumerate(plan.app_pods()):
        if index % PODS_PER_EVENT == 0:
            number = rng.randrange(2**40) * len(_REASONS) + index // PODS_PER_EVENT % len(_REASONS)
            yield event(app.namespace, app.pod_name(ordinal), node, number, now)
