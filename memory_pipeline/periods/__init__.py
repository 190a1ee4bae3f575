"""What days, weeks, months and years amount to: decisions, patterns, facts, open threads and figures, each level made
from the one below it."""
