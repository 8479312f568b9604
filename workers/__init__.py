"""The worker processes: broker agents, periodic tasks, reports, and the engine."""
