"""Structural schemas of custom resources: defaulting, pruning, and a check whether an object needs either."""
