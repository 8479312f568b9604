"""Print the OpenAPI document: ``python -m backend.api.rest > backend/api/rest/openapi.json``."""

import sys

from backend.api.app import print_openapi

sys.stdout.write(print_openapi())
