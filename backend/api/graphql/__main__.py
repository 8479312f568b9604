"""Print the schema: ``python -m backend.api.graphql > backend/api/graphql/schema.graphql``."""

import sys

from backend.api.graphql.schema import print_schema

sys.stdout.write(print_schema())
