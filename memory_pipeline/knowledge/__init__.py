"""Levels above the raw memory, as pure functions on texts: merged memories, canonical entries, principles and
playbook entries. The steps of a night call them; nothing here reads or writes the store."""
