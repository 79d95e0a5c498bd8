"""Mode 5: compose a LIST, foresee it, fire it, compare."""
