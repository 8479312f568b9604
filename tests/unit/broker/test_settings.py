from pathlib import Path

import pytest

from workers.broker.configuration.settings import (
    InvalidSetting,
    describe_settings,
    load_settings,
    parse_delay_levels,
    parse_settings,
)


def test_stock_names_are_understood():
    given = {
        "brokerClusterName": "C",
        "brokerName": "b",
        "brokerId": "0",
        "listenPort": "10921",
        "namesrvAddr": "127.0.0.1:9876; ns2:9877 ;ns3",
        "brokerIP1": "10.0.0.9",
        "storePathRootDir": "/data/store",
        "storePathCommitLog": "/log",
        "autoCreateTopicEnable": "false",
        "defaultTopicQueueNums": "16",
        "flushDiskType": "SYNC_FLUSH",
        "mappedFileSizeConsumeQueue": "601",
        "maxMessageSize": "65536",
    }

    settings = parse_settings(given).settings

    assert (settings.cluster_name, settings.broker_name, settings.listen_port) == ("C", "b", 10921)
    assert settings.name_servers == (("127.0.0.1", 9876), ("ns2", 9877), ("ns3", 9876))
    assert settings.commit_log_dir == Path("/log")
    assert settings.config_dir == Path("/data/store/config")
    assert (settings.auto_create_topics, settings.flush_mode) == (False, "sync")
    assert settings.queue_file_size_bytes == 620


def test_the_defaults_are_those_of_stock_except_for_quicker_heartbeats():
    settings = parse_settings({}).settings

    assert settings.delay_levels_ms[:3] == (1000, 5000, 10_000)
    assert settings.delay_levels_ms[17] == 7_200_000
    assert (settings.listen_port, settings.template_queue_count) == (10911, 8)
    assert (settings.commit_log_file_size_bytes, settings.message_size_max_bytes) == (2**30, 2**22)
    assert (settings.heartbeat_interval_ms, settings.heartbeat_timeout_ms) == (500, 3000)


# Of storage-and-ha.md 10 and 2.13, as far as they have an effect here.
STOCK_DEFAULTS = """
    brokerClusterName=DefaultCluster brokerId=0 defaultTopicQueueNums=8 messageIndexEnable=true
    mappedFileSizeCommitLog=1073741824 mappedFileSizeConsumeQueue=6000000 maxMessageSize=4194304
    maxHashSlotNum=5000000 maxIndexNum=20000000
    flushDiskType=ASYNC_FLUSH flushIntervalCommitLog=500 syncFlushTimeout=5000
    enabledAppendPropCRC=false forceVerifyPropCRC=false
    accessMessageInMemoryMaxRatio=40 fileReservedTime=72 deleteWhen=04 diskMaxUsedSpaceRatio=75
    diskSpaceWarningLevelRatio=90 diskSpaceCleanForciblyRatio=85 cleanFileForciblyEnable=true
    cleanResourceInterval=10000 deleteCommitLogFilesInterval=100 flushConsumerOffsetInterval=5000
    flushDelayOffsetInterval=10000 enableControllerMode=false syncBrokerMetadataPeriod=5000
    brokerElectionPriority=2147483647 inSyncReplicas=1 minInSyncReplicas=1 slaveTimeout=3000
    haMaxTimeSlaveNotCatchup=15000 haSendHeartbeatInterval=5000 haHousekeepingInterval=20000
    asyncLearner=false syncFromLastFile=false
"""
OWN_DEFAULTS = """
    allAckInSyncStateSet=true brokerHeartbeatInterval=500 controllerHeartBeatTimeoutMills=3000
    haTransferBatchSize=262144
"""


def test_every_default_is_stocks_but_for_those_that_are_ours_on_purpose():
    described = describe_settings(parse_settings({}).settings, {})
    expected = dict(pair.split("=") for pair in (STOCK_DEFAULTS + OWN_DEFAULTS).split())

    assert {name: described[name] for name in expected} == expected


def test_records_end_in_a_checksum_of_their_own_only_when_asked_to():
    given = {"enabledAppendPropCRC": "true"}
    forced = given | {"forceVerifyPropCRC": "true"}

    assert parse_settings({}).settings.crc_property == "off"
    assert parse_settings(given).settings.crc_property == "verified"
    assert parse_settings(forced).settings.crc_property == "required"
    with pytest.raises(InvalidSetting, match="needs enabledAppendPropCRC"):
        parse_settings({"forceVerifyPropCRC": "true"})


@pytest.mark.parametrize("name", ["enableLmq", "enableMultiDispatch"])
def test_light_queues_are_refused_by_name(name):
    with pytest.raises(InvalidSetting, match=f"{name}=true: only RocketMQ brokers serve light"):
        parse_settings({name: "true"})

    assert parse_settings({name: "false"}).unused == (name,)


def test_a_damaged_log_is_cut_only_by_consent():
    consent = parse_settings({"cutDamageAt": "1073741824"}).settings

    assert parse_settings({}).settings.cut_damage_at is None
    assert consent.cut_damage_at == 1 << 30
    with pytest.raises(InvalidSetting, match="cutDamageAt=all"):
        parse_settings({"cutDamageAt": "all"})


def test_properties_without_effect_are_listed_and_kept():
    loaded = parse_settings(
        {"transientStorePoolEnable": "true", "brokerName": "b", "haFlowControlEnable": "true"}
    )

    assert loaded.unused == ("haFlowControlEnable", "transientStorePoolEnable")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("listenPort", "70000"),
        ("listenPort", "1"),
        ("listenPort", "ten"),
        ("brokerId", "-1"),
        ("brokerName", ""),
        ("brokerName", "a/b"),
        ("brokerClusterName", "x" * 128),
        ("flushDiskType", "async"),
        ("autoCreateTopicEnable", "yes"),
        ("messageDelayLevel", ""),
        ("messageDelayLevel", "1s,5s"),
        ("messageDelayLevel", "-1s"),
        ("namesrvAddr", "host:port"),
        ("namesrvAddr", ":9876"),
        ("maxMessageSize", "9"),
        ("storePathCommitLog", "/disk1/log,/disk2/log"),
        ("storePathCommitLog", ""),
        ("defaultTopicQueueNums", "0"),
    ],
)
def test_a_bad_value_names_its_property(name, value):
    with pytest.raises(InvalidSetting) as caught:
        parse_settings({name: value})

    assert str(caught.value).startswith(f"{name}={value}: ")


def test_delay_levels_know_their_units():
    assert parse_delay_levels("1s 2m 3h 4d") == (1000, 120_000, 10_800_000, 345_600_000)


def test_settings_are_described_as_given_or_by_default():
    loaded = parse_settings({"messageDelayLevel": "90s 2m", "namesrvAddr": "a:1;b:2"})

    described = describe_settings(loaded.settings, {})

    assert described["messageDelayLevel"] == "90s 2m"
    assert described["namesrvAddr"] == "a:1;b:2"
    assert described["flushDiskType"] == "ASYNC_FLUSH"
    assert described["autoCreateTopicEnable"] == "true"
    assert parse_settings({name: value for name, value in described.items() if value}).unused == ()


def test_a_file_that_is_not_text_is_an_error(tmp_path):
    path = tmp_path / "broker.conf"
    path.write_bytes(b"\xff\xfe")

    with pytest.raises(InvalidSetting, match="UTF-8"):
        load_settings(path)


@pytest.mark.parametrize(
    ("given", "is_master"),
    [
        ({"brokerRole": "SLAVE", "brokerId": "2"}, False),
        ({"brokerRole": "SYNC_MASTER", "totalReplicas": "2", "inSyncReplicas": "2"}, True),
        ({"enableSlaveActingMaster": "true"}, True),
    ],
)
def test_a_broker_without_a_controller_may_have_a_fixed_role(given, is_master):
    settings = parse_settings(given).settings

    assert (settings.has_fixed_role, settings.is_master) == (True, is_master)


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"brokerId": "3"},
        {"brokerRole": "SYNC_MASTER"},
        {
            "enableControllerMode": "true",
            "controllerAddr": "h:1",
            "brokerRole": "SLAVE",
            "totalReplicas": "3",
        },
    ],
)
def test_other_brokers_have_none(given):
    assert not parse_settings(given).settings.has_fixed_role


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ({"brokerRole": "SLAVE"}, "brokerId"),
        ({"enableSlaveActingMaster": "true", "brokerId": "1"}, "brokerId"),
        ({"totalReplicas": "2", "inSyncReplicas": "3"}, "totalReplicas"),
        ({"totalReplicas": "2", "minInSyncReplicas": "3"}, "totalReplicas"),
        ({"brokerRole": "MASTER"}, "brokerRole"),
        ({"haMasterAddress": "10.0.0.1"}, "haMasterAddress"),
    ],
)
def test_roles_ids_and_numbers_that_do_not_fit_together_are_refused(given, name):
    with pytest.raises(InvalidSetting) as refused:
        parse_settings(given)

    assert refused.value.name == name


def test_fixed_roles_are_described_in_the_words_of_stock():
    given = {"brokerRole": "SLAVE", "brokerId": "1", "haMasterAddress": "10.0.0.1:10912"}

    described = describe_settings(parse_settings(given).settings, {})

    assert described["brokerRole"] == "SLAVE"
    assert described["haMasterAddress"] == "10.0.0.1:10912"
    assert described["flushDiskType"] == "ASYNC_FLUSH"
