"""The line at the bottom in which filters and commands are typed, and its completions."""
