"""An API key goes only to the address that it belongs to: the provider's own, or the one that stands beside the key in
the environment or in one settings file."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlsplit

from memory_pipeline.config.described import describe_settings
from memory_pipeline.config.sources import Given

_PORTS = {"https": 443, "http": 80}


def withhold_keys(sources: Sequence[Given]) -> dict[str, str]:
    """Take the keys out of the sources that belong to other addresses than those they would be sent to.

    For an address that is not the provider's own, the key from the same source counts, even an empty one. A key for
    any server (`model.api_key`) belongs to the address beside it; where there is none, to whichever is named. Returns
    the reason and the mend for each setting whose key is missing for that. `sources` begin with the first in
    precedence.
    """
    infos = {info.key: info for info in describe_settings()}
    withheld = {}
    for key, info in infos.items():
        beside = next((source for source in sources if info.address and info.address in source.origins), None)
        if beside is None or is_same_server(beside.value(info.address), infos[info.address].default):
            continue
        others = [source for source in sources if source is not beside and key in source.origins]
        owner = infos[info.address].default
        if not owner:
            address = beside.value(info.address)
            paired = [source for source in others if info.address in source.origins]
            others = [source for source in paired if not is_same_server(source.value(info.address), address)]
        if others and not any(key in source.origins for source in sources if source not in others):
            belongs = f"{owner} or to an address beside it" if owner else f"{others[0].value(info.address)!r} beside it"
            withheld[key] = (
                f"the key '{key}' (from {others[0].origins[key]}) is not sent to {beside.value(info.address)!r}, which "
                f"'{info.address}' names (from {beside.origins[info.address]}): it belongs to {belongs}; set "
                f"{infos[info.address].env[-1]} where {info.env[-1]} is set, or write an api_key beside the base_url "
                f"in the same file (any word if the server needs none)"
            )
        for source in others:
            source.remove(key)
    return withheld


def is_same_server(one: object, other: object) -> bool:
    """Whether two addresses have the same scheme, host and port. One that programs may read in different ways is the
    same as no other, not even as itself."""
    server = server_of(one)
    return server is not None and server == server_of(other)


def server_of(url: object) -> tuple[str, str | None, int | None] | None:
    """Scheme, host and port of an address; None for one that programs may read in different ways."""
    text = str(url)
    try:
        parts = urlsplit(text)
        port = parts.port or _PORTS.get(parts.scheme)
    except ValueError:
        return None
    if "@" in parts.netloc or "\\" in text or not text.isascii() or not text.isprintable():
        return None
    return parts.scheme, parts.hostname, port
