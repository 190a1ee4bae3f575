"""What a run came to: its report, the pages of it, its verdict, and the notices that go out."""
