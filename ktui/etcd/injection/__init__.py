"""Inject faults between ktui and an etcd that it started: a proxy, and signals to the process."""
