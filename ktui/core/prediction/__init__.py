"""Predictions: the routing rules applied to what is known of a server."""
