"""The form that a client negotiated, for one resource."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ktui.apiserver.forms.base import ObjectForm
from ktui.apiserver.forms.message import Message, PartialMessage
from ktui.apiserver.forms.partial import Partial
from ktui.apiserver.forms.plain import Converted, Plain
from ktui.apiserver.forms.table import Table, check_include
from ktui.apiserver.negotiation import PROTOBUF, Form
from ktui.kube.resources import Resource
from ktui.kube.status import StatusError
from ktui.kube.versions import Behaviour

if TYPE_CHECKING:
    from ktui.apiserver.ports import Codec


def object_form(
    form: Form, resource: Resource, behaviour: Behaviour, codec: Codec, *, include: str, of_list: bool
) -> ObjectForm:
    """How to render; StatusError 406 where the form does not fit, 400 for an unknown `include`."""
    protobuf = form.media_type == PROTOBUF
    if protobuf and not form.target:
        return Message(resource, codec.messages)
    stored = resource.storage_version in ("", resource.api_version)
    plain = Plain(resource) if stored else Converted(resource, codec)
    if not form.target:
        return plain
    if form.target == "Table":
        return Table(plain, resource, behaviour, form.meta_api_version, check_include(include))
    if of_list != form.target.endswith("List"):
        raise _wrong_shape(form.target, of_list)
    partial = Partial(plain, form.meta_api_version, resource.id)
    if protobuf:
        return PartialMessage(resource, codec.messages, partial, form.meta_api_version)
    return partial


def _wrong_shape(target: str, of_list: bool) -> StatusError:
    what = "a list" if of_list else "not a list"
    return StatusError(406, "NotAcceptable", f"you requested {target}, but the requested object is {what}")
