"""The report of a run: its fields, summary, pages, plots and files."""
