"""What a broker measures of itself."""
