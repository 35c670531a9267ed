"""The checksum of a summary: every damaged byte is found, and summaries of version 1, which had none, are read."""

import base64

import numpy as np
import pytest

import nbmetrics as nm
from nbmetrics.federated import serialization
from tests.slow import slow

ROWS = np.random.default_rng(2).normal(size=(30, 3))
GENERATORS = {"g": nm.Gaussian([0.0, 0.0, 0.0])}
SENT = nm.federated.client_summary(ROWS, "fid")
# FID of these rows as version 1 sent it: written by the package before it knew of version 2.
OLD = base64.b64decode(
    "TkJNRVRTTQG4AAAAeyJkaW0iOjIsInNlY3Rpb25zIjpbeyJtZXRyaWMiOiJmaWQiLCJzYXlzIjoiRklEOiBzcXVhcmVkIEZyw6ljaGV0IGRpc3Rhbm"
    "NlLCBjb3ZhcmlhbmNlcyB3aXRoIGRkb2YgMSIsImtpbmQiOiJtb21lbnRzIiwiY291bnQiOjEyLCJ0eXBlIjoiPGY4IiwiYXJyYXlzIjpbWyJtZWFu"
    "IixbMl1dLFsiZmFjdG9yIixbM11dXX1dfeJ6FK5H4da/woN5ov6NwD+bGZ9YP/ftP69POixBn9k/f19TUtJd5D8="
)
OLD_ROWS = np.random.default_rng(0).normal(size=(12, 2)).round(3)


def is_refused(data):
    try:
        serialization.read(bytes(data), "client 'eve'")
    except nm.InvalidInput as error:
        return "eve" in str(error)
    return False


def test_every_flipped_bit_is_refused():
    for place in range(len(SENT)):
        for bit in range(8):
            data = bytearray(SENT)
            data[place] ^= 1 << bit
            assert is_refused(data), (place, bit)
    assert not is_refused(SENT)


@pytest.mark.parametrize("step", [17, *slow(1)])
def test_every_other_byte_in_the_place_of_one_is_refused(step):
    places = range(0, len(SENT), step)
    assert all(is_refused(SENT[:k] + bytes([b]) + SENT[k + 1 :]) for k in places for b in range(256) if b != SENT[k])


def test_damage_of_several_bytes_is_refused():
    """Bytes that were cut, doubled, exchanged or set to 0, as transports do it."""
    rng = np.random.default_rng(0)
    for _ in range(300):
        a, b = sorted(rng.integers(1, len(SENT), size=2))
        assert is_refused(SENT[:a] + SENT[b + 1 :]) and is_refused(SENT[:a] + SENT[a - 1 :])
        assert is_refused(SENT[:a] + SENT[a : b + 1][::-1] + SENT[b + 1 :]) or SENT[a : b + 1] == SENT[a : b + 1][::-1]
        assert is_refused(SENT[:a] + bytes(b + 1 - a) + SENT[b + 1 :]) or not any(SENT[a : b + 1])


def test_the_refusal_names_the_client_and_the_damage():
    data = bytearray(SENT)
    data[-serialization.CHECKSUM - 1] ^= 16  # in the last number
    with pytest.raises(nm.InvalidInput, match=r"client 'eve': is damaged or cut short: its checksum"):
        nm.federated.aggregate({"adam": SENT, "eve": bytes(data)}, None, GENERATORS, "fid")


def test_version_1_is_read_and_said_to_have_no_checksum():
    generators = {"g": nm.Gaussian([0.0, 0.0])}
    new = nm.federated.client_summary(OLD_ROWS, "fid")
    assert new[: len(serialization.MAGIC)] == b"NBMETSM\x02" and len(new) == len(OLD) + 32
    first, second = (nm.federated.aggregate({"a": one}, None, generators, "fid") for one in (OLD, new))
    assert first.table["all"][0] == second.table["all"][0] == pytest.approx(nm.fid(OLD_ROWS, generators["g"]))
    assert [line for line in first.cautions if "without checksum" in line] == [
        "The summary of 'a' is of version 1, without checksum: damage in transit cannot be detected."
    ]
    assert not any("checksum" in line for line in second.cautions)
    both = nm.federated.aggregate({"a": OLD, "b": new, "c": OLD}, None, generators, "fid").cautions
    assert sum("The summaries of 'a', 'c' are of version 1, without checksum" in line for line in both) == 1


def test_the_ledger_counts_the_checksum():
    for metrics in ("fid", "kid"):
        data = nm.federated.client_summary(ROWS, metrics)
        _, sections = serialization.read(data, "c")
        assert serialization.size(3, list(sections.values())) == len(data)
        there = nm.federated.aggregate([data], None, GENERATORS, metrics).ledger.query("aggregate == 'all'")
        here = nm.evaluate([ROWS], GENERATORS, metrics, progress=False).ledger.query("aggregate == 'all'")
        assert there["bytes"].tolist() == here["bytes"].tolist() == [len(data)]
