"""The assets, one file per group."""
