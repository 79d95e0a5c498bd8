"""`ktui serve` from its parts: the etcd, the rules, who serves, and what is written down of it."""
