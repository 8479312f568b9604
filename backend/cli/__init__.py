"""Command line of Regent, a client of the REST door."""
