"""Mode 2: every request, and the most expensive of them by client and shape."""
