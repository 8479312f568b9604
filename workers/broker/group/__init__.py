"""The place of a broker in its broker group."""
