"""How the report of a run reads: its fields, summary, pages, plots and files."""
