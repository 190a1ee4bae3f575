"""What is worth keeping of conversations: their turns, the chunks that these form, what is extracted from them, and
where it goes. Values in, values out: nothing here opens a store or a file, or knows Dagster."""
