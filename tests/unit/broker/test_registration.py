"""What a broker tells name servers of itself."""

from workers.broker.registration import Registrant
from workers.broker.settings import parse_settings
from workers.broker.topics import TopicTable


def test_a_light_heartbeat_names_no_id_which_a_controller_would_take_for_a_replicas_word():
    settings = parse_settings({"brokerName": "g", "brokerClusterName": "c"}).settings
    registrant = Registrant(
        settings, TopicTable(None, listener=lambda *_: None, clock=lambda: 1), port=10911
    )

    registrant.become(2)

    assert registrant.heartbeat() == {
        "clusterName": "c",
        "brokerName": "g",
        "brokerAddr": registrant.address,
    }
