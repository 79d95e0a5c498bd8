"""Measure what the dashboard costs, with the real program in a terminal: `python -m benchmarks.ui`."""
