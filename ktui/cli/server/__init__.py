"""The parts of `ktui serve`: configuration, etcd, request chain, flow control, faults, logs, recording."""
