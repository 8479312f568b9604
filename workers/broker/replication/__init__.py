"""Replication of one broker group: who holds what, and what may be acknowledged for it."""
