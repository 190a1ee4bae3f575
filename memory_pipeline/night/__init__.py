"""One night: duplicates, eligibility, similarity, clusters, distillation, archive, report; one file per step."""
