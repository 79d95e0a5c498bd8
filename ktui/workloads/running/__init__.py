"""Run workloads: knobs, clients, figures, the runner and its summary."""
