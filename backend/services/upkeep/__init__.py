"""Use cases of periodic work: events, findings and retention."""
