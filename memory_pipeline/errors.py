"""The few errors that a user can do something about, named for what that is.

Every message names the thing, its value and the mend, in one sentence; the command line prints it
and exits non-zero.
"""


class MemoryPipelineError(Exception):
    """Base of every error that is the user's to mend."""


def in_words(error: Exception) -> str:
    """An error as a person reads it: one that is theirs to mend speaks for itself, another one is named."""
    return str(error) if isinstance(error, MemoryPipelineError) else f"{type(error).__name__}: {error}"


class SettingError(MemoryPipelineError):
    """A setting is unknown, has the wrong type, or lies outside its range."""


class InputError(MemoryPipelineError):
    """A file, directory, date or argument that was named cannot be used."""


class OutputError(MemoryPipelineError):
    """A file that was to be written cannot be, or must not be."""


class StoreError(MemoryPipelineError):
    """The store cannot be opened, read or written."""


class DamagedStoreError(StoreError):
    """Bytes of the store are missing or are not those that were written."""


class StoreBusyError(StoreError):
    """Another process holds the store, or another run has it in use."""


class StoreVersionError(StoreError):
    """The store was written by a newer version of this program."""


class EmbeddingError(MemoryPipelineError):
    """The embedding model is missing, or it answered with something that is no unit vector."""


class SnapshotError(StoreError):
    """A snapshot is missing, damaged, or cannot be restored here."""


class ModelError(MemoryPipelineError):
    """The language model cannot be used: its key, its name, its price or its server."""


class StrategyError(MemoryPipelineError):
    """A distiller or strategy that was named does not exist or cannot work."""


class HistoryError(MemoryPipelineError):
    """Dagster's history of the runs cannot be opened, read or written."""


class RunStoppedError(BaseException):
    """A run has to end between two pieces of work: its time is over. No handler of ordinary errors holds it up."""
