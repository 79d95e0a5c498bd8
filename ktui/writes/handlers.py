"""The handlers of the write path, for the composition of a server."""

from ktui.apiserver.dispatch import Handlers
from ktui.writes import bindings, create, delete, delete_collection, evictions, patch, scale, update

WRITES = Handlers(
    {
        "POST": create.handle,
        "PUT": update.handle,
        "PATCH": patch.handle,
        "DELETE": delete.handle,
        "DELETECOLLECTION": delete_collection.handle,
    },
    {
        "status": {"PUT": update.handle, "PATCH": patch.handle},
        "finalize": {"PUT": update.handle},
        "scale": {"GET": scale.get, "PUT": scale.update, "PATCH": scale.patch},
        "binding": {"POST": bindings.bind},
        "eviction": {"POST": evictions.evict},
    },
)
