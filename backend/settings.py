"""Read each process's settings from the environment, once and frozen.

Every name has the prefix ``REGENT_``; durations and sizes carry their unit in the name. Values
that can hold a password are secrets, so that neither a log line nor a traceback shows them.
"""

from datetime import timedelta
from enum import StrEnum
from pathlib import Path

from pydantic import Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from backend.domain.operation_approval import SecondPerson
from backend.domain.replica_group import LeasePolicy
from backend.domain.retention import RetentionPolicy


def faults_of(error: ValidationError) -> str:
    """Say in one line which variables are missing or wrong, and nothing of what they hold."""
    faults = (
        f"REGENT_{'_'.join(str(part) for part in fault['loc']).upper()} {fault['msg'].lower()}"
        for fault in error.errors(include_input=False)
    )
    return "; ".join(faults)


class LogFormat(StrEnum):
    """Say for whom log lines are written: a person at a terminal or a collector."""

    CONSOLE = "console"
    JSON = "json"


class _Settings(BaseSettings):
    """Share the prefix and the frozenness of all settings."""

    model_config = SettingsConfigDict(
        env_prefix="REGENT_", frozen=True, extra="ignore", hide_input_in_errors=True
    )


class _RetentionSettings(_Settings):
    """Say how long what has happened is kept; server and workers read the same."""

    history_kept_days: int = Field(
        default=365, ge=1, le=36_500, description="Changes of broker groups."
    )
    operations_kept_days: int = Field(
        default=365, ge=1, le=36_500, description="Operations that have ended."
    )
    findings_kept_days: int = Field(
        default=365, ge=1, le=36_500, description="Findings that are closed."
    )
    audit_kept_days: int = Field(default=1_095, ge=30, le=36_500, description="The audit.")
    samples_kept_days: int = Field(
        default=400, ge=7, le=36_500, description="Parquet history of samples, by whole days."
    )
    events_kept_max: int = Field(default=200_000, ge=1)
    events_kept_hours: int = Field(default=72, ge=1)

    @property
    def retention(self) -> RetentionPolicy:
        """Return how long each subject is kept."""
        return RetentionPolicy(
            group_changes=timedelta(days=self.history_kept_days),
            operations=timedelta(days=self.operations_kept_days),
            findings=timedelta(days=self.findings_kept_days),
            audit=timedelta(days=self.audit_kept_days),
            samples=timedelta(days=self.samples_kept_days),
            events=timedelta(hours=self.events_kept_hours),
            events_max=self.events_kept_max,
        )


class MigrationSettings(_Settings):
    """Hold what a migration run needs."""

    database_url: SecretStr


class ServerSettings(_RetentionSettings):
    """Hold the settings of one control plane process."""

    database_url: SecretStr
    redis_url: SecretStr
    http_host: str = "127.0.0.1"
    http_port: int = Field(default=8080, ge=0, le=65535)
    remoting_host: str = "127.0.0.1"
    remoting_port: int = Field(default=9876, ge=0, le=65535)
    lease_policy: LeasePolicy = Field(
        default=LeasePolicy.QUORUM,
        description="What masters of new broker groups need in order to acknowledge.",
    )
    unclean_election_allowed: bool = Field(
        default=False,
        description="Set to let a replica become master that may lack acknowledged messages.",
    )
    second_person: SecondPerson = Field(
        default=SecondPerson.NONE,
        description="From which risk class on another user must approve what was confirmed.",
    )
    bootstrap_secret_file: Path | None = None
    console_dir: Path | None = None
    history_dir: Path | None = None
    log_format: LogFormat = LogFormat.CONSOLE
    session_lifetime_hours: int = Field(default=12, ge=1)
    session_cookie_secure: bool = Field(
        default=False, description="Set when the console is served over HTTPS."
    )
    allowed_origins: tuple[str, ...] = Field(
        default=(), description="Origins besides the server's own that may use a session cookie."
    )
    shutdown_deadline_ms: int = Field(default=5_000, ge=100)


class WorkerSettings(_RetentionSettings):
    """Hold the settings of one Celery worker or beat process."""

    database_url: SecretStr
    redis_url: SecretStr
    history_dir: Path
    report_dir: Path
    log_format: LogFormat = LogFormat.CONSOLE
