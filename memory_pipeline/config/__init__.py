"""Every setting with its name, default, range, meaning and the source of its value; policies; cron expressions."""
