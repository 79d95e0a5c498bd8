"""What a user has set: the config file, the environment, and which of them wins. Pure data and files."""
