"""Put together the commands of nouns that several modules add to; each noun is imported alone."""
