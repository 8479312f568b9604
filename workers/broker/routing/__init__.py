"""The connections of a broker to name servers."""
