"""JSON and YAML from outside, read within limits of depth, size and memory."""
