"""Use cases of capacity reports."""
