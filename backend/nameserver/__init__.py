"""Answer routes: the remoting door of the control plane, a server, sessions and a table."""
