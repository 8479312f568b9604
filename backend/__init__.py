"""Hold the control plane: the rules of a cluster, its stores and the doors into it."""
