"""JSON and YAML from outside ktui, read with limits on depth, size and memory."""
