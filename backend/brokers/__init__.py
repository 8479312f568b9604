"""Send requests to brokers: the table of requests, the client, and the answers."""
