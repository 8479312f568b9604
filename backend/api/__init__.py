"""Answer people and scripts over HTTP: REST, GraphQL and the console."""
