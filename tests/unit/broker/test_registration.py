"""The registration of a broker at name servers."""

import json

from workers.broker.configuration.settings import parse_settings
from workers.broker.routing.registration import RegistrationSource
from workers.broker.tables.topics import TopicTable


def source(**properties):
    settings = parse_settings({"brokerName": "g", "brokerClusterName": "c"} | properties).settings
    topics = TopicTable(None, listener=lambda *_: None, clock=lambda: 1)
    return RegistrationSource(settings, topics, port=10911)


def test_a_light_heartbeat_names_no_id_which_a_controller_would_take_for_a_replicas_word():
    registration_source = source()

    registration_source.become(2)

    names = {"clusterName": "c", "brokerName": "g", "brokerAddr": registration_source.address}
    assert registration_source.heartbeat() == (904, names, b"")


def test_an_old_name_server_is_asked_whether_topics_have_changed_instead():  # S138
    registration_source = source(compatibleWithOldNameSrv="true", brokerId="2")

    code, ext, body = registration_source.heartbeat()

    assert (code, ext["brokerId"], ext["brokerAddr"]) == (322, "2", registration_source.address)
    assert json.loads(body).keys() == {"counter", "stateVersion", "timestamp"}


def test_a_registration_says_whether_replicas_act():
    controlled = {"enableControllerMode": "true", "controllerAddr": "h:1"}
    sources = [
        source(enableSlaveActingMaster="true"),
        source(),
        source(enableSlaveActingMaster="true", **controlled),
    ]

    told = [one.registration().ext["enableActingMaster"] for one in sources]

    assert told == ["true", "false", "false"]
