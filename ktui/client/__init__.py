"""A thin HTTP client of a ktui server, for the dashboard, the commands and the workloads."""
