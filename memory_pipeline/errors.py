"""The errors that a user can fix, named for what the user can do about them.

Every message names the thing, its value and the fix in one sentence; the command line prints it and exits with a
non-zero code.
"""


class MemoryPipelineError(Exception):
    """Base class of every error that the user can fix."""


def in_words(error: Exception) -> str:
    """An error in words: the message of one that the user can fix, otherwise the class name and message."""
    return str(error) if isinstance(error, MemoryPipelineError) else f"{type(error).__name__}: {error}"


def first_line(error: Exception) -> str:
    """The first line of an error, for a message; its kind if it says nothing."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:300]


class SettingError(MemoryPipelineError):
    """A setting is unknown, has the wrong type, or is outside its range."""


class InputError(MemoryPipelineError):
    """A given file, directory, date or argument cannot be used."""


class AlreadyRolledBackError(InputError):
    """A run was rolled back before."""


class NotFoundError(InputError):
    """A memory, project or job that was named does not exist."""


class OutputError(MemoryPipelineError):
    """A file cannot or must not be written."""


class StoreError(MemoryPipelineError):
    """The store cannot be opened, read or written."""


class DamagedStoreError(StoreError):
    """Bytes of the store are missing or differ from those that were written."""


class StoreBusyError(StoreError):
    """Another process or run holds the store."""


class StoreVersionError(StoreError):
    """The store was written by a newer version of this program."""


class EmbeddingError(MemoryPipelineError):
    """The embedding model is missing, or returned something other than a unit vector."""


class OtherModelError(EmbeddingError):
    """The memories have vectors of another model than the one that is set."""


class SnapshotError(StoreError):
    """A snapshot is missing, damaged, or cannot be restored here."""


class ModelError(MemoryPipelineError):
    """The language model cannot be used: its key, its name, its price or its server is wrong."""


class NoModelError(ModelError):
    """No language model is chosen."""


class StrategyError(MemoryPipelineError):
    """A given distiller or strategy does not exist or does not work."""


class HistoryError(MemoryPipelineError):
    """Dagster's run history cannot be opened, read or written."""


class RunStoppedError(BaseException):
    """The run must end between two units of work: its time is up. Handlers of ordinary errors do not catch it."""
