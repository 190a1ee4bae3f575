"""The interfaces through which people and agents use the pipeline."""
