"""Carry out every change of a cluster as an operation: plan, confirmation, steps (D19)."""
