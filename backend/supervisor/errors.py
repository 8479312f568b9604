"""Define why a local cluster can't start, each as one line with the next step."""


class CannotStart(Exception):
    """The cluster cannot start; the message is the one line that the user sees."""
