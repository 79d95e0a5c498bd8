"""The handlers of the write path, from which a server is composed."""

from ktui.apiserver.dispatch import Handlers
from ktui.apiserver.verbs import get
from ktui.writes import bindings, create, delete, delete_collection, evictions, patch, scale, update
from ktui.writes.unserved import NAMES, VERBS, refuse

WRITES = Handlers(
    {
        "POST": create.handle,
        "PUT": update.handle,
        "PATCH": patch.handle,
        "DELETE": delete.handle,
        "DELETECOLLECTION": delete_collection.handle,
    },
    {
        **{name: dict.fromkeys(VERBS, refuse) for name in NAMES},
        **{
            name: {"GET": get.handle, "PUT": update.handle, "PATCH": patch.handle}
            for name in ("approval", "ephemeralcontainers", "resize")
        },
        "status": {"PUT": update.handle, "PATCH": patch.handle},
        "finalize": {"PUT": update.handle},
        "scale": {"GET": scale.get, "PUT": scale.update, "PATCH": scale.patch},
        "binding": {"POST": bindings.bind},
        "eviction": {"POST": evictions.evict},
    },
    {"bindings": bindings.bind_named},
)
