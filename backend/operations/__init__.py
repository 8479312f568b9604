"""Carry out every change of a cluster as an operation: planned, confirmed, done in steps (D19)."""
