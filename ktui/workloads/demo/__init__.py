"""A demo cluster with objects as in a real one; the same seed gives the same objects."""
