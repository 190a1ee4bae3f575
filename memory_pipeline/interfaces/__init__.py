"""How people and agents meet the pipeline."""
