"""Imported by the process that those of `processes` are forked from: all that they need, and nothing that is open.

What reads the environment when it is imported is forgotten again, and read by each process anew. What a process loads
when it is first asked for costs a second, as much as a small night: here it is loaded once.
"""

import sys
from importlib import import_module

from memory_pipeline.text.redaction import redact

for _needed in ("memory_pipeline.interfaces.cli", "memory_pipeline_tests.laws.crashes", "jinja2", "pandas", "tantivy"):
    import_module(_needed)
_kept = set(sys.modules)

import_module("memory_pipeline.definitions")
for _name in [name for name in sys.modules if name.startswith("memory_pipeline.") and name not in _kept]:
    _package, _, _module = _name.rpartition(".")
    if _package in _kept:
        delattr(sys.modules[_package], _module)
    del sys.modules[_name]

redact("The scanner has its rules, with an account number 0123456789abcdef.")
