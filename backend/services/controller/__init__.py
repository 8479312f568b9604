"""Use cases of the controller: replicas, heartbeats and elections."""
