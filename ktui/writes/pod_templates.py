"""Where the objects of a kind hold a pod's spec: the pods themselves, and the kinds that make pods."""

from __future__ import annotations

from ktui.kube.json_trees import Obj

# Kinds whose name becomes part of the names of pods.
NAMED = ("Pod", "Deployment", "ReplicaSet", "StatefulSet", "Job", "CronJob", "ReplicationController")
TEMPLATES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys((*NAMED[1:], "DaemonSet"), ("spec", "template")),
    "CronJob": ("spec", "jobTemplate", "spec", "template"),
    "PodTemplate": ("template",),
}
"""The path of the template of each kind that has one."""


def pod_spec_of(obj: Obj) -> Obj | None:
    """Return the spec of a pod, or of the template that an object has; None if there is none."""
    kind = str(obj.get("kind"))
    if kind != "Pod" and kind not in TEMPLATES:
        return None
    part = obj
    for name in (*TEMPLATES.get(kind, ()), "spec"):
        part = part.get(name) or {}
    return part or None
