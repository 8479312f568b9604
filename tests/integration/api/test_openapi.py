"""Whatever the OpenAPI document lets a caller send, the answer is one that it names."""

import asyncio
import os

import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
EXAMPLES_PER_OPERATION = int(os.environ.get("REGENT_SCHEMA_EXAMPLES", "1"))
SIGNING_IN = ("POST", "/api/v1/session")
SIGNING_OUT = {("DELETE", "/api/v1/session"), ("DELETE", "/api/v1/sessions")}


async def test_generated_requests_get_documented_answers(client, register, served, token):
    await register(topics=["orders"])
    document = (await client.get("/api/v1/openapi.json")).json()
    operations = [
        result.ok() for result in schemathesis.openapi.from_dict(document).get_all_operations()
    ]

    for operation in operations:
        # Signing out would leave nothing to ask the others with.
        if (operation.method.upper(), operation.path) not in SIGNING_OUT:
            await asyncio.to_thread(check, operation, f"http://127.0.0.1:{served}", token)

    assert len(operations) > 10


async def test_generated_requests_without_a_credential_are_refused_as_documented(client, served):
    document = (await client.get("/api/v1/openapi.json")).json()
    operations = [
        result.ok() for result in schemathesis.openapi.from_dict(document).get_all_operations()
    ]
    closed = [one for one in operations if (one.method.upper(), one.path) != SIGNING_IN]

    for operation in closed:
        url = f"http://127.0.0.1:{served}"
        await asyncio.to_thread(
            check, operation, url, None, examples=1, checks=[*CHECKS, is_refused]
        )

    assert len(operations) - len(closed) == 1


def is_refused(_context, response, _case):
    assert response.status_code == 401, response.text


def check(operation, base_url, token, *, examples=EXAMPLES_PER_OPERATION, checks=CHECKS):
    headers = {"Authorization": f"Bearer {token}"} if token else {}

    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy())
    def ask(case):
        case.call_and_validate(base_url=base_url, headers=headers, checks=checks)

    ask()
