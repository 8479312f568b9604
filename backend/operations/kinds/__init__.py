"""One module for each kind of operation: its plan."""
