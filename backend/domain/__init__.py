"""Hold the rules of a cluster as plain values and functions: no socket, database or clock."""
