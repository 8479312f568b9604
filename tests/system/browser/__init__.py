"""A package, so that its modules, one after another, have one Chromium."""
