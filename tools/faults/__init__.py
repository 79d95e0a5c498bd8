"""The fault checker: random faults around ktui and etcd, and every answer checked against etcd's history."""
