"""Structural schemas of custom resources: defaults, pruning, and the check that nothing is to be done."""
