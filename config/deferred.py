"""Modules that are loaded when something of them is used, if ever."""

import sys
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any


class _Deferred(ModuleType):
    """Stands in sys.modules for the module of its name. importlib's LazyLoader loads it at the second `import`."""

    def __getattr__(self, name: str) -> Any:
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(import_module(self.__name__), name)


def defer(name: str) -> None:
    """Before anybody imports it. It has no effect on `from name import …`, which loads it at once."""
    if name not in sys.modules:
        deferred = _Deferred(name)
        deferred.__spec__ = find_spec(name)
        sys.modules[name] = deferred
