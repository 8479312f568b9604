"""Whatever the schema lets a caller ask, the answer is of its form, and never an inside error."""

import asyncio
import os

import httpx
import schemathesis
from graphql import build_schema, introspection_from_schema
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis.graphql import nodes

from backend.api.graphql.schema import print_schema
from tests.waiting import PATIENCE_S

EXAMPLES = int(os.environ.get("REGENT_SCHEMA_EXAMPLES", "1"))
"""Generated questions for each field of the roots."""
SIGNING_OUT = {"endSession", "endSessions", "changePassword"}

schemathesis.graphql.scalar(
    "Int64", st.integers(-(2**64), 2**64).map(lambda number: nodes.String(str(number)))
)


def operations():
    """Give each field of the roots that a question can ask for."""
    schema = schemathesis.graphql.from_dict({"data": introspected()})
    return [found.ok() for found in schema.get_all_operations()]


def introspected():
    return introspection_from_schema(build_schema(print_schema()))


async def test_generated_questions_get_answers_of_the_schemas_form(served, token, register):
    await register(topics=["orders"])
    asked = set()

    for operation in operations():
        if operation.definition.field_name not in SIGNING_OUT:
            headers = {"Authorization": f"Bearer {token}"}
            await asyncio.to_thread(check, operation, served, headers, check_answer)
            asked.add(operation.definition.field_name)

    assert len(asked) > 40


async def test_generated_questions_without_a_credential_are_refused_alike(served):
    for operation in operations()[::4]:
        await asyncio.to_thread(check, operation, served, {}, check_refusal)


def check(operation, port, headers, look):
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy())
    def ask(case):
        look(case, client.post("/graphql", json={"query": case.body}))

    url = f"http://127.0.0.1:{port}"
    with httpx.Client(base_url=url, headers=headers, timeout=PATIENCE_S, verify=False) as client:
        ask()


def check_answer(case, answer):
    assert answer.status_code == httpx.codes.OK, (case.body, answer.text)
    told = answer.json()
    assert set(told) <= {"data", "errors"}
    for error in told.get("errors", []):
        code = error["extensions"]["code"]
        assert code not in {"internal", "unavailable", "unauthenticated"}, (case.body, error)
        assert error["message"]
    if told.get("data") is None:
        assert told["errors"], case.body


def check_refusal(_case, answer):
    assert answer.status_code == httpx.codes.UNAUTHORIZED
    assert answer.json()["errors"][0]["extensions"]["code"] == "unauthenticated"
