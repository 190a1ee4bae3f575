"""Reading: what of a conversation is worth keeping, and what of a day's notes lasts."""
