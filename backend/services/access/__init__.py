"""Use cases of users, sessions, tokens and the audit."""
