"""What the dashboard costs, measured at the real program in a real terminal: `python -m benchmarks.ui`."""
