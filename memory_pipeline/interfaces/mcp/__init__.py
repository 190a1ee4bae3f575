"""The memory as an MCP server for agents, over stdio and streamable HTTP."""
