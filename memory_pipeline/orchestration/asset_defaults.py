"""What all assets share: group, owner, IO manager, and the freshness policy."""

from datetime import timedelta

from dagster import FreshnessPolicy

GROUP = "night"
KNOWLEDGE_GROUP = "knowledge"
OWNERS = ["team:memory"]
IO = "night_files"
ZONE = "America/New_York"
#: The job that only archives exact duplicates; its runs are reported under this kind.
DUPLICATES_JOB = "duplicates"

#: The night of the last complete day should be done by 04:30 New York time.
NIGHTLY = FreshnessPolicy.cron(
    deadline_cron="30 4 * * *", lower_bound_delta=timedelta(hours=1, minutes=30), timezone=ZONE
)
