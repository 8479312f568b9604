"""Show nouns: one frozen dataclass for each answer, the same over REST and in the graph."""
