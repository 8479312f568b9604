"""Replication in a broker group: the data of each broker, and what may be acknowledged."""
