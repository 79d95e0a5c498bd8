"""Structural schemas of custom resources: defaulting, pruning, and the check that neither is needed."""
