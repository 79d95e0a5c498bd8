"""The fault checker: inject random faults, and check every answer of ktui against etcd's history."""
