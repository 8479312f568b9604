"""Serve the logical queues of static topics (logical-queues.md 13)."""
