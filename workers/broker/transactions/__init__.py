"""Messages that consumers see once their producer has committed a transaction (storage-and-ha.md 7)."""
