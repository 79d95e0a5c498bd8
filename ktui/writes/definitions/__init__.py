"""CustomResourceDefinitions: their validation, their defaults, and the controller that serves them."""
