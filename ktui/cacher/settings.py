"""What may be switched while the server runs."""

from __future__ import annotations

from dataclasses import dataclass, field

from ktui.kube.versions import Behaviour, behaviour_of


@dataclass(slots=True)
class Settings:
    """Read at each request, so that a change holds from the next one on; caches are kept.

    `progress`: etcd's progress requests can be relied on (or are assumed to).
    `confirm_progress`: believe an answer only when a later one has come as well, for
    etcds before 3.4.31 and 3.5.13, whose answers overtake events (see confirmation.py).
    `check_consistency`: caches may be compared with etcd now and then, which reads all of it.
    `watch_cache` False is `--watch-cache=false`: every read goes to etcd.
    """

    behaviour: Behaviour = field(default_factory=behaviour_of)
    progress: bool = True
    confirm_progress: bool = True
    watch_cache: bool = True
    check_consistency: bool = False
