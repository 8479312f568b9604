"""How a broker holds, fences and finishes requests."""
