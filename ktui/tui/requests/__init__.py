"""Mode 2: every request, and the costliest of them by client and shape."""
