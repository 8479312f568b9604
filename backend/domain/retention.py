"""Define how long records are kept, and which of them may be deleted."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from enum import StrEnum
from typing import Final

CHANGES_KEPT_MIN: Final = 100
"""The number of changes of each broker group that are kept, however old they are."""


class Subject(StrEnum):
    """Name a kind of records with a limited retention."""

    GROUP_CHANGES = "group_changes"
    OPERATIONS = "operations"
    FINDINGS = "findings"
    INCIDENTS = "incidents"
    EVENTS = "events"
    AUDIT = "audit"
    SAMPLES = "samples"


@dataclass(frozen=True, slots=True)
class RetentionPolicy:
    """Hold how long each subject is kept; events also by their number."""

    group_changes: timedelta
    operations: timedelta
    findings: timedelta
    incidents: timedelta
    audit: timedelta
    samples: timedelta
    events: timedelta
    events_max: int

    def kept_for(self, subject: Subject) -> timedelta:
        """Return how long records of a subject are kept."""
        kept: timedelta = getattr(self, subject.value)
        return kept

    def cutoff(self, subject: Subject, *, at: datetime) -> datetime:
        """Return the instant before which records of a subject may be deleted."""
        return at - self.kept_for(subject)

    def samples_kept_since(self, *, at: datetime) -> date:
        """Return the first day whose samples are kept: only whole days are deleted."""
        return self.cutoff(Subject.SAMPLES, at=at).date()


@dataclass(frozen=True, slots=True)
class Expiry:
    """Hold the number of records of a subject that the next run would delete."""

    subject: Subject
    kept_for: timedelta
    cutoff: datetime
    expired_count: int
