"""All workloads by name."""

from __future__ import annotations

import difflib
from pathlib import Path

from ktui.workloads.catalog import (
    agent_boot,
    defrag_stall,
    deployment_chain,
    fan_out,
    helm,
    informers,
    kubectl_users,
    kubelet_configmaps,
    leader_election,
    paged_export,
    polling_controller,
    time_travel,
)
from ktui.workloads.load_profile import read_profile
from ktui.workloads.running.knobs import WorkloadError
from ktui.workloads.running.workload import Workload

PROFILES = (".yaml", ".yml", ".toml")
WORKLOADS: dict[str, Workload] = {
    module.WORKLOAD.name: module.WORKLOAD
    for module in (
        agent_boot, kubelet_configmaps, informers, fan_out, deployment_chain, defrag_stall, time_travel,
        leader_election, polling_controller, kubectl_users, helm, paged_export,
    )
}  # fmt: skip


def find_workload(word: str) -> Workload:
    """Return the workload of that name, or of a load profile's file; WorkloadError lists the names."""
    if word in WORKLOADS:
        return WORKLOADS[word]
    if Path(word).suffix in PROFILES:
        return read_profile(Path(word).expanduser())
    close = difflib.get_close_matches(word, WORKLOADS, n=1)
    hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(WORKLOADS)}"
    raise WorkloadError(f"there is no workload {word!r}: {hint}")
