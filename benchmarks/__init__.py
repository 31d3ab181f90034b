"""How fast calls are and what they cost, beside the official SDK, FastMCP and the floors; see README.md."""
