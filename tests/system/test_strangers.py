"""Without a session the control plane answers nothing, and odd paths get clean errors."""

import httpx
import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from tests.system.cluster import Cluster
from tests.system.console import stranger
from tests.system.peer import BAD_TOPICS

pytestmark = pytest.mark.system


@pytest.mark.usefixtures("nothing_is_written")
@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/api/v1/session"),
        ("DELETE", "/api/v1/session"),
        ("GET", "/api/v1/clusters"),
        ("GET", "/api/v1/clusters/DefaultCluster"),
        ("GET", "/api/v1/clusters/DefaultCluster/topics/TBW102"),
        ("GET", "/api/v1/capacity/reports"),
        ("POST", "/api/v1/capacity/reports"),
        ("GET", "/api/v1/no-such-place"),
        ("POST", "/graphql"),
    ],
)
def test_a_stranger_is_refused_over_http(method: str, path: str, cluster: Cluster):
    with stranger(cluster) as client:
        body = {"query": "{ viewer { name } }"} if path == "/graphql" else None
        answers = [
            client.request(method, path, json=body),
            client.request(method, path, json=body, headers={"Authorization": "Bearer nonsense"}),
            client.request(method, path, json=body, headers={"Cookie": "regent_session=nonsense"}),
        ]

    assert [answer.status_code for answer in answers] == [401] * 3
    for answer in answers:
        content = answer.json()
        code = content["errors"][0]["extensions"]["code"] if path == "/graphql" else content["code"]
        assert code == "unauthenticated"


def test_a_stranger_gets_no_subscription(cluster: Cluster):
    address = cluster.http_url.replace("http://", "ws://") + "/graphql"

    with pytest.raises(InvalidStatus) as refusal, connect(address):
        pass

    assert refusal.value.response.status_code == 401


@pytest.mark.parametrize("topic", [*BAD_TOPICS.values(), "ü" * 400], ids=[*BAD_TOPICS, "umlauts"])
def test_a_bad_topic_name_in_a_path_is_a_clean_error(topic: str, signed_in: httpx.Client):
    quoted = "".join(f"%{byte:02X}" for byte in topic.encode())

    answer = signed_in.get(f"/api/v1/clusters/DefaultCluster/topics/{quoted}")

    assert answer.status_code in (400, 404, 422)
    assert answer.json()["code"] in ("topic_not_found", "not_found", "invalid_name")
