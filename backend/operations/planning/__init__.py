"""What the plans of several kinds read and check."""
