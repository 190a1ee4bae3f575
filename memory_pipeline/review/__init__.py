"""What a person decides: proposals, conflicts, and taking runs back."""
