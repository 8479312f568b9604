"""Hold the use cases: one public asynchronous function each, one transaction, commit last."""
