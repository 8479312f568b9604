"""Use cases of clusters, brokers and their health."""
