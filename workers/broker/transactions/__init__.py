"""Transactions: consumers see a message once its producer commits it (storage-and-ha.md 7)."""
