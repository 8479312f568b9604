"""Processes that do the cluster's work: broker agents, scheduled tasks, reports, the engine."""
