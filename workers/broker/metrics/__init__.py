"""The measurements of a broker about itself."""
