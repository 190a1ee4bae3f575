"""Writes what the store knows where agents and people read it: OpenClaw, Claude Code, Obsidian, and rows."""
