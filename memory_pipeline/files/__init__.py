"""Writing files whole, and editing files that belong to somebody else: blocks, locks, backups, and taking back."""
