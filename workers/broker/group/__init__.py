"""The membership of a broker in its broker group."""
