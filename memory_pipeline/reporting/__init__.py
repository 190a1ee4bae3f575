"""Reports of runs: figures, pages, verdicts and notices."""
