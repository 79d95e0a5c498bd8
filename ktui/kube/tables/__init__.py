"""Server-side printing: the columns and cells of `kubectl get` (meta.k8s.io/v1 Table)."""
