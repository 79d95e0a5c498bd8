"""Measure what ktui costs in time and memory: see `python -m benchmarks --help`."""
