"""`ktui serve` from its parts: the etcd, the rules, the facts, logging and recording."""
