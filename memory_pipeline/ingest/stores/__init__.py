"""Readers of the stores of other agent memories: brain.db, mem0, the MCP reference server, Letta, LangGraph and
basic-memory. Each file is one format."""
