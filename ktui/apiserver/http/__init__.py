"""HTTP without Kubernetes: requests, responses, media types, certificates, the listening server."""
