"""User settings: the config file, the environment, and their precedence."""
