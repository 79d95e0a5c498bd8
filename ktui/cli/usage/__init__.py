"""Each command as data: its options, examples and exit codes. Imports nothing that the work needs."""
