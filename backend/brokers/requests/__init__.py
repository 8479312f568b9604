"""The table of requests to brokers: one type for each, with its code, content and answer."""
