"""Pure rules and facts of the Kubernetes API: no I/O, imports nothing else of ktui."""
