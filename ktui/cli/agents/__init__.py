"""`ktui mcp`: the commands as tools for agents, with bounded answers and masked names."""
