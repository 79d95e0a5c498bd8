"""Rules of the statuses that controllers and kubelets write (upstream: Validate…StatusUpdate)."""
