"""What can stop a local cluster from starting, each as one line with the next step."""


class CannotStart(Exception):
    """The cluster cannot start; the message is the one line that the user sees."""
