"""Validate names, label keys and label values, with upstream's messages for invalid ones."""

from __future__ import annotations

import re

_QUALIFIED = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_LABEL_VALUE = f"({_QUALIFIED})?"
_DNS_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = rf"{_DNS_LABEL}(\.{_DNS_LABEL})*"
_WILDCARD = rf"\*\.{_SUBDOMAIN}"
_LABEL_LENGTH = 63
_CONFIG_KEY = "[-._a-zA-Z0-9]+"
_QUALIFIED_RULE = (
    "must consist of alphanumeric characters, '-', '_' or '.', "
    "and must start and end with an alphanumeric character"
)
_LABEL_VALUE_RULE = f"a valid label must be an empty string or {_QUALIFIED_RULE.removeprefix('must ')}"
_DNS_LABEL_RULE = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', "
    "and must start and end with an alphanumeric character"
)
_SUBDOMAIN_RULE = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', "
    "and must start and end with an alphanumeric character"
)
LABEL_1035 = re.compile("[a-z]([-a-z0-9]*[a-z0-9])?")
LABEL_1035_FAULT = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic "
    "character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for "
    "validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"
)
_KEY_EXAMPLES = ("MyName", "my.name", "123-abc")


def label_key_faults(key: str) -> list[str]:
    """Return what is wrong with a label or annotation key; [] if it is valid."""
    prefix, slash, name = key.partition("/")
    if not slash:
        return _name_part_faults(key)
    if "/" in name:
        rule = _with_pattern("a valid label key " + _QUALIFIED_RULE, _QUALIFIED, *_KEY_EXAMPLES)
        return [rule + " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"]
    faults = subdomain_faults(prefix, "bytes") if prefix else ["must be non-empty"]
    return [f"prefix part {fault}" for fault in faults] + _name_part_faults(name)


def _name_part_faults(name: str) -> list[str]:
    faults = [] if name else ["must be non-empty"]
    faults += _faults(name, _QUALIFIED_RULE, _QUALIFIED, *_KEY_EXAMPLES)
    return [f"name part {fault}" for fault in faults]


def label_value_faults(value: str) -> list[str]:
    """Return what is wrong with a label value; [] if it is valid."""
    return _faults(value, _LABEL_VALUE_RULE, _LABEL_VALUE, "MyValue", "my_value", "12345")


def subdomain_faults(name: str, unit: str = "characters") -> list[str]:
    """Return what is wrong with an object name of most kinds (RFC 1123 subdomain); [] if it is valid."""
    return _faults(name, _SUBDOMAIN_RULE, _SUBDOMAIN, "example.com", most=253, unit=unit)


def wildcard_faults(name: str) -> list[str]:
    """Return what is wrong with a host that has a wildcard; [] if it is valid."""
    if re.fullmatch(_WILDCARD, name):
        return []
    rule = (
        "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must "
        "consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character"
    )
    return [_with_pattern(rule, _WILDCARD, "*.example.com")]


def dns_label_faults(name: str) -> list[str]:
    """Return what is wrong with a namespace's or container's name (RFC 1123 label); [] if it is valid."""
    too_long = (
        [f"must be no more than {_LABEL_LENGTH} characters"] if len(name.encode()) > _LABEL_LENGTH else []
    )
    if not re.fullmatch(_DNS_LABEL, name) and re.fullmatch(_SUBDOMAIN, name):
        return [*too_long, "must not contain dots"]
    return _faults(name, _DNS_LABEL_RULE, _DNS_LABEL, "my-name", "123-abc", unit="characters")


def config_key_faults(key: str) -> list[str]:
    """Return what is wrong with a key of a ConfigMap's or Secret's data; [] if it is valid."""
    rule = "a valid config key must consist of alphanumeric characters, '-', '_' or '.'"
    examples = ("key.name", "KEY_NAME", "key-name")
    faults = _faults(key, rule, _CONFIG_KEY, *examples, most=253, unit="characters")
    if key in (".", ".."):
        faults.append(f"must not be '{key}'")
    elif key.startswith(".."):
        faults.append("must not start with '..'")
    return faults


def path_segment_faults(name: str) -> list[str]:
    """Return what is wrong with a name that only has to fit into a URL path (RBAC); [] if it is valid."""
    if name in (".", ".."):
        return [f"may not be '{name}'"]
    if "/" not in name and "%" not in name:
        return []
    return [f"may not contain '{char}'" for char in "/%" if char in name]


def _faults(
    text: str, rule: str, pattern: str, *examples: str, most: int = 63, unit: str = "bytes"
) -> list[str]:
    too_long = len(text.encode("utf-8", "surrogatepass")) > most
    faults = [f"must be no more than {most} {unit}"] if too_long else []
    if not re.fullmatch(pattern, text):
        faults.append(_with_pattern(rule, pattern, *examples))
    return faults


def _with_pattern(rule: str, pattern: str, *examples: str) -> str:
    shown = " or ".join(f"'{example}', " for example in examples)
    return f"{rule} (e.g. {shown}regex used for validation is '{pattern}')"
