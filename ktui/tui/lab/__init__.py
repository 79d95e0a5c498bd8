"""Mode 5: compose a LIST, predict it, send it, compare."""
