"""Screen 2: the log of all requests, and the most expensive of them by client and kind."""
