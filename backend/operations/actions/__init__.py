"""Define the actions of operations: each reads, changes, reads back and undoes."""
