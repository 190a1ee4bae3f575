"""The demo workspace: its texts, the seeded script that makes it, and the score card against its truth."""
