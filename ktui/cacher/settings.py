"""What may be switched while the server runs."""

from __future__ import annotations

from dataclasses import dataclass, field

from ktui.kube.versions import Behaviour, behaviour_of


@dataclass(slots=True)
class Settings:
    """Read at each request, so that a change holds from the next one on; caches are kept.

    `progress`: etcd's progress requests can be relied on (or are assumed to).
    `watch_cache` False is `--watch-cache=false`: every read goes to etcd.
    """

    behaviour: Behaviour = field(default_factory=behaviour_of)
    progress: bool = True
    watch_cache: bool = True
