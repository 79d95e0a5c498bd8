"""HTTP itself: requests, responses, media types, certificates, the listening server. Nothing of Kubernetes' objects."""
