"""Names, label keys, label values."""

import pytest

from ktui.kube.names import (
    config_key_faults,
    dns_label_faults,
    label_key_faults,
    label_value_faults,
    path_segment_faults,
    subdomain_faults,
)

_NAME_PART = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)


@pytest.mark.parametrize(
    "key", ["app", "a/b", "app.kubernetes.io/name", "A_b.c-1", "x" * 63, "a" * 253 + "/x"]
)
def test_good_label_keys(key: str) -> None:
    assert label_key_faults(key) == []


@pytest.mark.parametrize(
    ("key", "faults"),
    [
        ("", ["name part must be non-empty", _NAME_PART]),
        ("-a", [_NAME_PART]),
        ("/a", ["prefix part must be non-empty"]),
        ("a/", ["name part must be non-empty", _NAME_PART]),
        ("x" * 64, ["name part must be no more than 63 bytes"]),
    ],
)
def test_bad_label_keys(key: str, faults: list[str]) -> None:
    assert label_key_faults(key) == faults


def test_label_keys_have_one_slash_and_a_lower_case_prefix() -> None:
    (fault,) = label_key_faults("a/b/c")
    assert fault.startswith("a valid label key must consist of")
    assert fault.endswith(" with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')")
    (fault,) = label_key_faults("Example.com/x")
    assert fault.startswith("prefix part a lowercase RFC 1123 subdomain must consist of")


@pytest.mark.parametrize("value", ["", "a", "A_b.c-1", "v" * 63])
def test_good_label_values(value: str) -> None:
    assert label_value_faults(value) == []


def test_label_values_count_bytes() -> None:
    assert label_value_faults("v" * 64) == ["must be no more than 63 bytes"]
    too_long, odd = label_value_faults("é" * 32)
    assert too_long == "must be no more than 63 bytes"
    assert odd.startswith("a valid label must be an empty string or consist of alphanumeric characters")


def test_object_names() -> None:
    assert subdomain_faults("a.b-c") == []
    assert subdomain_faults("n" * 254) == ["must be no more than 253 characters"]
    assert "regex used for validation" in subdomain_faults("Bad_Name")[0]
    assert dns_label_faults("my-name") == []
    assert len(dns_label_faults("a.b")) == 1
    assert path_segment_faults("system:node") == []
    assert path_segment_faults("a/b%") == ["may not contain '/'", "may not contain '%'"]


@pytest.mark.parametrize(
    ("key", "fault"),
    [("a b", "a valid config key must"), (".", "must not be '.'"), ("..x", "must not start with '..'")],
)
def test_config_keys(key: str, fault: str) -> None:
    assert config_key_faults(key)[0].startswith(fault)
    assert config_key_faults("app.yaml") == []
