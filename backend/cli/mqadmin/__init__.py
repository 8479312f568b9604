"""Accept stock's mqadmin commands with their names and options (console-and-cli.md 2.3)."""
