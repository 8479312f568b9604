"""Reach what lies outside: brokers, the task queue, the sample history, the clock."""
