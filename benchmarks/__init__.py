"""What ktui costs in time and memory. `python -m benchmarks --help` tells how to measure it."""
