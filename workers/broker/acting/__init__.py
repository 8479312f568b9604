"""Groups without a controller: fixed roles, and replicas that act for an absent master."""
