"""What is known about a consolidation job, for people and programs; `job_records` reads it from Dagster."""

from typing import Any

from pydantic import Field

from memory_pipeline.documents import Document, Moment


class JobRecord(Document):
    """Everything known about a consolidation job; its status is Dagster's."""

    job_id: str = Field(description="The job's id, which is that of its Dagster run.")
    status: str = Field(description="`pending`, `running`, `completed`, `failed` or `cancelled`.")
    trigger: str = Field(description="What started it: `manual`, `scheduled` or `threshold`.")
    triggered_by: str = Field(description="Who started it.")
    scope: dict[str, Any] = Field(
        description="What it was limited to, if anything: `projects`, `memory_types`, `date_range`, "
        "`unconsolidated_only`."
    )
    dry_run: bool = Field(description="Whether it was a dry run.")
    phases_completed: tuple[str, ...] = Field(description="The completed phases, in order.")
    metrics: dict[str, int] = Field(description="The figures of the phases, by name.")
    created_at: Moment = Field(description="When it was requested.")
    started_at: Moment | None = Field(description="When it began.")
    completed_at: Moment | None = Field(description="When it ended.")
    duration_seconds: float | None = Field(description="Its duration in seconds.")
    error: str | None = Field(description="The error that made it fail.")
    skipped: str | None = Field(description="Why it was skipped, for example because a night held the store.")
    retry_count: int = Field(description="How often its phases were retried.")
    max_retries: int = Field(description="Maximum number of retries per phase.")


class JudgedJob(JobRecord):
    """A job with the verdict of its report: a job that Dagster reports as completed may have had errors."""

    verdict: str | None = Field(
        description="PASS, PARTIAL or FAIL; null if the job has no report: it has not ended, or it archived nothing "
        "and had no error."
    )
