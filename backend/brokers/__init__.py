"""Send requests to brokers: what can be asked of them, how, and what they answered."""
