"""Documents that users and programs see as JSON: models in which every field has a description.

`--json`, the HTML pages, Dagster's metadata and the reference are generated from them.
"""

from __future__ import annotations

import types
from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Annotated, Any, Self, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, PlainSerializer, ValidationInfo, model_validator

#: A time as ISO text with its offset, as `datetime.isoformat` writes it.
Moment = Annotated[datetime, PlainSerializer(lambda moment: moment.isoformat(), return_type=str, when_used="json")]


def optional(description: str, nothing: Any = None) -> Any:
    """A field that may have no value, `nothing`, and stands in JSON only if it has one."""
    return Field(default=nothing, exclude_if=lambda value: value == nothing, description=description)


class Document(BaseModel):
    """A document that users see. It is immutable and has exactly the declared fields."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True, defer_build=True)

    @classmethod
    def of_record(cls, record: object, **more: Any) -> Self:
        """The document with those of its fields that a record has as attributes of the same name, and with `more`."""
        return cls(**{name: getattr(record, name) for name in cls.model_fields if hasattr(record, name)} | more)

    def as_json(self) -> dict[str, Any]:
        """The document as `--json` prints it, with its fields in the order of declaration."""
        return self.model_dump(mode="json", by_alias=True)

    @classmethod
    def described_fields(cls, elsewhere: Collection[type[Document]] = ()) -> dict[str, str]:
        """The meaning of each field by its name in JSON; fields of nested documents as `name.field`, and as
        `name[].field` for lists of documents.

        The fields of documents that are described `elsewhere` are omitted, whether nested or inherited.
        """
        inherited = {name for base in elsewhere if base in cls.__mro__[1:] for name in base.model_fields}
        meanings: dict[str, str] = {}
        for name, field in cls.model_fields.items():
            if name in inherited:
                continue
            key = field.alias or name
            meanings[key] = field.description or ""
            inner, path = _present(field.annotation), key
            if get_origin(inner) is tuple:
                inner, path = get_args(inner)[0], f"{key}[]"
            if isinstance(inner, type) and issubclass(inner, Document) and inner not in elsewhere:
                parts = inner.described_fields(elsewhere)
                meanings |= {f"{path}.{part}": meaning for part, meaning in parts.items()}
        return meanings


class KeptDocument(Document):
    """A document that is stored as JSON, and read again by later versions."""

    @classmethod
    def read_kept(cls, stored: Mapping[str, Any]) -> Self:
        """A document that was stored as JSON, by this version or an earlier one.

        Fields that this version does not know are omitted. Fields that the earlier version did not have are empty:
        zero, empty text, an empty list, None. Raises ValidationError if the type of a field has changed.
        """
        return cls.model_validate(stored, context={"kept": True})

    @model_validator(mode="before")
    @classmethod
    def _of_an_earlier_version(cls, value: Any, info: ValidationInfo) -> Any:
        if not (info.context or {}).get("kept") or not isinstance(value, Mapping):
            return value
        names = {field.alias or name: field.annotation for name, field in cls.model_fields.items()}
        return {name: value[name] if name in value else _empty(kind) for name, kind in names.items()}


def _present(kind: Any) -> Any:
    """A type without the None that may stand in its place."""
    if get_origin(kind) not in (Union, types.UnionType):
        return kind
    kinds = [part for part in get_args(kind) if part is not types.NoneType]
    return kinds[0] if len(kinds) == 1 else kind


def _empty(kind: Any) -> Any:
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return None if type(None) in arguments else _empty(arguments[0])
    if origin is not None and origin not in (tuple, list, dict):
        return arguments[0] if arguments else None  # the first of some words
    made = origin or kind
    return {} if issubclass(made, BaseModel) else made() if made in (bool, int, float, str, tuple, list, dict) else None
