"""HTTP itself: requests, responses, media types, certificates, the listening server; no Kubernetes."""
