"""Settings of the caches that can change while the server runs."""

from __future__ import annotations

from dataclasses import dataclass, field

from ktui.kube.versions import Behaviour, behaviour_of, with_gate


@dataclass(slots=True)
class Settings:
    """Settings that are read at each request: a change applies to the next one, and caches are kept.

    `progress`: etcd's progress notifications can be trusted (or are assumed to be). `confirm_progress`: a
    notification is trusted only after a second one, for etcd before 3.4.31 and 3.5.13, whose notifications
    overtake events (see ProgressConfirmation). `priority_and_fairness` False is
    `--enable-priority-and-fairness=false`, whatever the version. `check_consistency`: caches may be compared
    with etcd periodically, which reads every object. `watch_cache` False is `--watch-cache=false`: every read
    goes to etcd. `owned`: ktui started this etcd.
    """

    behaviour: Behaviour = field(default_factory=behaviour_of)
    progress: bool = True
    confirm_progress: bool = True
    watch_cache: bool = True
    check_consistency: bool = False
    owned: bool = False
    priority_and_fairness: bool = True

    def __post_init__(self) -> None:
        self.use(self.behaviour)

    def use(self, behaviour: Behaviour) -> None:
        """Serve as this version from the next request on."""
        if not self.priority_and_fairness:
            behaviour = with_gate(behaviour, "APIPriorityAndFairness", on=False)
        self.behaviour = behaviour
