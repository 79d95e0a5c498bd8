"""Input and output of `ktui audit`: logs, sizes; text, Markdown, screens."""
