"""Use cases that run by themselves: events, findings and retention."""
