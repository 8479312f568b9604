"""Use cases that find and show messages."""
