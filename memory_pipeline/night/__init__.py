"""One night: duplicates, eligibility, similarity, clusters, distillation, archive, report - a file a step."""
