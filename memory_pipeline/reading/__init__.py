"""Reads notes and conversations: questions to a model, and its answers as verified statements; a trained classifier
where there is no model. Values in, values out."""
