"""Serve POP consumers: share queues, of which each message has at most one consumer at a time."""
