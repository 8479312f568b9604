"""The commit log of a broker, and what is derived from it."""
