"""Budgets of `ktui ci` and `ktui audit --budget`: options, the run or the logs that are judged, reports."""
