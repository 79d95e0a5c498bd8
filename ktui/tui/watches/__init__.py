"""Screen 6: the open WATCHes."""
