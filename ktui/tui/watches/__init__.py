"""Mode 6: the open WATCHes."""
