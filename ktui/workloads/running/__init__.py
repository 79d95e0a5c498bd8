"""What every workload runs on: knobs, clients, figures, the runner and its summary."""
