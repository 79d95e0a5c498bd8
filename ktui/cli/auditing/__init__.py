"""Input and output of `ktui audit`: it reads logs and sizes, and prints text, Markdown, HTML or JSON."""
