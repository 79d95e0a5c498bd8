"""ktui: a terminal explorer of the Kubernetes control plane's read path."""

__version__ = "0.1.0"
