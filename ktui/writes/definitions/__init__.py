"""CustomResourceDefinitions: what is refused, what the server sets, and what it does about them."""
