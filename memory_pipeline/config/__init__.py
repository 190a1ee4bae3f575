"""Every setting: its name, default, range and meaning, and where its value comes from; the policies; cron lines."""
