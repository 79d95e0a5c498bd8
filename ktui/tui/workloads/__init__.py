"""Screen 7: client behaviours that run against the server, with charts and knobs."""
