"""The etcd client: connection, embedded process, watch streams, ledger, read-only guard."""

import os

# gRPC's core prints connection errors to standard error, over the screen; users see them as EtcdError. gRPC
# reads this variable when it is first imported.
os.environ.setdefault("GRPC_VERBOSITY", "NONE")
# Children are forked only to run another program; gRPC's fork handlers can crash them before that.
os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")
