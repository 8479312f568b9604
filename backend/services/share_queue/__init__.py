"""Use cases of share queues."""
