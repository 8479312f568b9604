"""Say how long what has happened is kept, and from when on it may go."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from enum import StrEnum
from typing import Final

CHANGES_KEPT_MIN: Final = 100
"""So many of the newest changes of each broker group stay, however old they are."""


class Subject(StrEnum):
    """Name what is kept for a while."""

    GROUP_CHANGES = "group_changes"
    OPERATIONS = "operations"
    FINDINGS = "findings"
    EVENTS = "events"
    AUDIT = "audit"
    SAMPLES = "samples"


@dataclass(frozen=True, slots=True)
class RetentionPolicy:
    """Hold how long each subject is kept; events also by their number."""

    group_changes: timedelta
    operations: timedelta
    findings: timedelta
    audit: timedelta
    samples: timedelta
    events: timedelta
    events_max: int

    def kept_for(self, subject: Subject) -> timedelta:
        """Return how long a subject is kept."""
        kept: timedelta = getattr(self, subject.value)
        return kept

    def cutoff(self, subject: Subject, *, at: datetime) -> datetime:
        """Return the instant before which a subject may go."""
        return at - self.kept_for(subject)

    def samples_kept_since(self, *, at: datetime) -> date:
        """Return the first day of which samples are kept: days go whole."""
        return self.cutoff(Subject.SAMPLES, at=at).date()


@dataclass(frozen=True, slots=True)
class Expiry:
    """Say how much of a subject is older than it is kept, and would go with the next run."""

    subject: Subject
    kept_for: timedelta
    cutoff: datetime
    expired_count: int
