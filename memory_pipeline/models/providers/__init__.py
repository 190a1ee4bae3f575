"""The ways to reach a language model, one class each."""
