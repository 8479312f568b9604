"""The table of requests to brokers: a type for each, with its code, content and answer."""
