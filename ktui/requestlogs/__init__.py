"""The logs of requests that kube-apiserver writes: the audit log, and httplog."""
