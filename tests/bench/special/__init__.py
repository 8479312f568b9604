"""Messages for a time and transactions, ours beside stock's in one run."""
