"""Take stock's mqadmin commands under their own names and options (console-and-cli.md 2.3)."""
