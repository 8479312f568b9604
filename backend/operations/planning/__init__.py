"""Reads and checks that the plans of several kinds share."""
