"""The line at the bottom where a filter or a command is typed, and its completions."""
