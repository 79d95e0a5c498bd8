"""etcd as ktui talks to it: connection, embedded process, watch streams, ledger, read-only guard."""

import os

# gRPC's core prints connection faults to standard error, into whatever is on the screen; they reach
# people as EtcdError. It reads this when it is first imported.
os.environ.setdefault("GRPC_VERBOSITY", "NONE")
# Children are forked to run another program at once; gRPC's handlers for that can crash them before.
os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")
