"""The night, one file a step: duplicates, series, reading, similarity, clusters, distillation, archive, and what grows
of it; decisions by a person, and undoing."""
