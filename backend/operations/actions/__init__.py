"""Hold the actions that operations consist of: each reads, changes, reads back and takes back."""
