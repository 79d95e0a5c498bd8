"""Screen 5: compose a LIST, predict its route, send it, compare variants."""
