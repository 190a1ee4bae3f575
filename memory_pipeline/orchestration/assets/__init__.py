"""The assets, a file a group."""
