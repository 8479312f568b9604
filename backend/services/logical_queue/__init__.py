"""Use cases of topics."""
