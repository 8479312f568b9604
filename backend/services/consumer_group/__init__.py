"""Use cases of consumer groups, their clients and their locks."""
