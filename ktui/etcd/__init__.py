"""etcd as ktui talks to it: connection, embedded process, watch streams, ledger, read-only guard."""
