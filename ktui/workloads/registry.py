"""All workloads by name."""

from __future__ import annotations

from pathlib import Path

from ktui.workloads.catalog import (
    agent_boot,
    defrag_stall,
    deployment_chain,
    fan_out,
    informers,
    kubelet_configmaps,
    leader_election,
    repeated,
    time_travel,
)
from ktui.workloads.load_profile import read_profile
from ktui.workloads.running.knobs import WorkloadError, hint
from ktui.workloads.running.workload import Workload

PROFILES = (".yaml", ".yml", ".toml")
_MODULES = (
    agent_boot, kubelet_configmaps, informers, fan_out, deployment_chain, defrag_stall, time_travel,
    leader_election,
)  # fmt: skip
WORKLOADS: dict[str, Workload] = {
    workload.name: workload for workload in (*(module.WORKLOAD for module in _MODULES), *repeated.WORKLOADS)
}


def find_workload(word: str) -> Workload:
    """Return the workload of that name, or of a load profile's file; WorkloadError lists the names."""
    if word in WORKLOADS:
        return WORKLOADS[word]
    if Path(word).suffix in PROFILES:
        return read_profile(Path(word).expanduser())
    raise WorkloadError(f"there is no workload {word!r}: {hint(word, WORKLOADS)}")
