"""Modules that are loaded when something of them is used, if ever."""

import sys
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any


class _Deferred(ModuleType):
    """Stands in sys.modules for the module of its name. importlib's LazyLoader loads it at the second `import`."""

    def __getattr__(self, name: str) -> Any:
        if name == "__path__" and self.__spec__ and self.__spec__.submodule_search_locations is None:
            raise AttributeError(name)  # `from … import` asks every module for it
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(import_module(self.__name__), name)


def defer(name: str, *functions: str) -> None:
    """Before anybody imports it. `from name import …` loads it at once, but for `functions`: they do when called."""
    if name not in sys.modules:
        deferred = _Deferred(name)
        deferred.__spec__ = find_spec(name)
        for function in functions:
            setattr(deferred, function, _loading(deferred, function))
        sys.modules[name] = deferred


def _loading(deferred: _Deferred, function: str) -> Callable[..., Any]:
    def load_and_call(*args: Any, **kwargs: Any) -> Any:
        return deferred.__getattr__(function)(*args, **kwargs)

    return load_and_call
