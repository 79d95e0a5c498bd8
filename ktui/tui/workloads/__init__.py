"""Workloads: client behaviours that run against the server, their charts and their knobs."""
