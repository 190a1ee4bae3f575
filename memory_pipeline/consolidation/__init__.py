"""The night, one file a step: duplicates, series, reading, similarity, clusters, distillation, archive, and what grows
of it; what came of a run, with its notice; decisions by a person, and undoing."""
