"""Rules of values of built-in kinds: tables of (path, check), walked once for a create or an update."""
