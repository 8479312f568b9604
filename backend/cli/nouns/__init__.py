"""Combine the commands of nouns that several modules define; each noun is imported alone."""
