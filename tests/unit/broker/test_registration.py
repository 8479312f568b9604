"""The registration of a broker at name servers."""

from workers.broker.configuration.settings import parse_settings
from workers.broker.routing.registration import RegistrationSource
from workers.broker.tables.topics import TopicTable


def test_a_light_heartbeat_names_no_id_which_a_controller_would_take_for_a_replicas_word():
    settings = parse_settings({"brokerName": "g", "brokerClusterName": "c"}).settings
    registration_source = RegistrationSource(
        settings, TopicTable(None, listener=lambda *_: None, clock=lambda: 1), port=10911
    )

    registration_source.become(2)

    assert registration_source.heartbeat() == {
        "clusterName": "c",
        "brokerName": "g",
        "brokerAddr": registration_source.address,
    }
