"""Answer requests over remoting: a server, its sessions and the route table."""
