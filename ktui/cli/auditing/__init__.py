"""What `ktui audit` reads and writes: logs, sizes; text, Markdown, screens."""
