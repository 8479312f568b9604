"""Plan, confirm and run operations of every kind."""
