"""The demo workspace: its texts, the seeded script that generates it, and the score card against its truth file."""
