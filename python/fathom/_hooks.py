# SPDX-License-Identifier: MIT
"""What the hooks into every framework share: functions that are replaced and put back, phases, modules that are
imported later, and the one sentence about a version that is built differently.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import importlib.abc
import importlib.machinery
import sys
import threading
from types import CodeType, ModuleType
from typing import Any, Callable, Sequence, TypeVar

from fathom._error import Error
from fathom._passes import here
from fathom.annotate import metadata, region

MARK = "_fathom_hook"


def module_of(name: str, hint: str) -> Any:
    """A framework, or why it cannot be hooked."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        what = name if error.name in (None, name) else f"{error.name}, which {name} needs,"
        raise Error(f"{what} is not installed", hint, "unsupported") from error


_Function = TypeVar("_Function", bound=Callable[..., Any])


def like(original: Any) -> Callable[[_Function], _Function]:
    """functools.wraps, also of C++ methods whose names are no texts."""

    def make(ours: _Function) -> _Function:
        with contextlib.suppress(TypeError, AttributeError):
            functools.update_wrapper(ours, original)
        return ours

    return make


class Patches:
    """Replaced attributes, and the way back. What somebody else has replaced since stays as it is."""

    def __init__(self) -> None:
        self._made: list[tuple[Any, str, Any, Any]] = []

    def put(self, owner: Any, name: str, make: Callable[[Any], Any]) -> None:
        own = vars(owner).get(name)
        ours = make(getattr(owner, name))
        with contextlib.suppress(AttributeError):  # a property bears no mark
            setattr(ours, MARK, True)
        setattr(owner, name, ours)
        self._made.append((owner, name, own, ours))

    def codes(self) -> set[CodeType]:
        """Of the functions that were put in."""
        return {ours.__code__ for _, _, _, ours in self._made if hasattr(ours, "__code__")}

    def undo(self) -> None:
        for owner, name, own, ours in reversed(self._made):
            if vars(owner).get(name) is not ours:
                continue
            if own is None:
                delattr(owner, name)
            else:
                setattr(owner, name, own)
        self._made.clear()


class Places:
    """Where a framework's functions lie. What a version does not have is left out, and said once."""

    def __init__(self, framework: str, version: str) -> None:
        self._framework = f"{framework} {version}"
        self._missing: list[str] = []
        metadata(framework, version)

    def find(self, module: str, path: str = "") -> Any:
        """`path` in a module: `Class`, or `Class.method`; None where there is no such thing."""
        try:
            found: Any = importlib.import_module(module)
            for part in path.split(".") if path else ():
                found = getattr(found, part)
        except (ImportError, AttributeError):
            self._missing.append(f"{module}.{path}" if path else module)
            return None
        return found

    def say_what_is_missing(self) -> None:
        if self._missing:
            without = ", ".join(self._missing)
            print(f"fathom: {self._framework} has no {without}: phases told there are missing", file=sys.stderr)


class Shared:
    """Hooks that several may ask for: put in for the first of them, taken back when the last has gone."""

    def __init__(self, patches: Patches) -> None:
        self._patches = patches
        self._lock = threading.Lock()
        self._users = 0

    def install(self, framework: str, version: str, parts: Sequence[Callable[[Places], None]]) -> Callable[[], None]:
        """Who knows the version has imported the framework, and maybe others that are hooked then: not in here, while
        the lock is held. The result takes the hooks back."""
        with self._lock:
            self._users += 1
            if self._users == 1:
                places = Places(framework, version)
                for hook in parts:
                    hook(places)
                places.say_what_is_missing()
        return self._remove

    def _remove(self) -> None:
        with self._lock:
            self._users -= 1
            if self._users == 0:
                self._patches.undo()

    def is_told(self) -> bool:
        """Somebody may hold what was removed."""
        return self._users > 0


class Phase:
    """A region during which no other of its name is told: it would be a part of it."""

    def __init__(self, name: str, category: str, arguments: dict[str, object]) -> None:
        self._name = name
        self._region = region(name, category=category, **arguments)

    def __enter__(self) -> None:
        here.open = here.open | {self._name}
        self._region.__enter__()

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        self._region.__exit__(kind)
        here.open = here.open - {self._name}


def told(
    name: str,
    category: str,
    is_told: Callable[[], bool],
    arguments: Callable[[Any], dict[str, object]] | None = None,
) -> Callable[[Any], Any]:
    """A function whose calls are phases; `arguments` come of the object that it is a method of."""

    def make(original: Callable[..., Any]) -> Callable[..., Any]:
        @like(original)
        def phase(*given: Any, **named: Any) -> Any:
            if not is_told() or here.data or name in here.open:
                return original(*given, **named)
            with Phase(name, category, arguments(given[0]) if arguments else {}):
                return original(*given, **named)

        return phase

    return make


class Span:
    """A region that one call begins and another ends, in the same thread. Inside of one its kind begins no other."""

    def __init__(self, name: str, category: str | None, is_work: bool = True) -> None:
        self._name = name
        self._category = category
        self._open = frozenset((name,) if is_work else ())  # else phases inside of it are told
        self._local = threading.local()

    def depth(self) -> int:
        return int(getattr(self._local, "depth", 0))

    def begin(self, **arguments: object) -> bool:
        """Whether it began here, and not further out."""
        depth = self.depth()
        self._local.depth = depth + 1
        if depth > 0:
            return False
        self._local.region = region(self._name, category=self._category, **arguments)
        self._local.region.__enter__()
        here.open = here.open | self._open
        return True

    def end(self, failed: type[BaseException] | None = None) -> None:
        depth = self.depth()
        if depth == 0:  # it began before the hooks were there
            return
        self._local.depth = depth - 1
        if depth == 1:
            self._local.region.__exit__(failed)
            here.open = here.open - self._open

    def abandon(self, failed: type[BaseException], depth: int = 0) -> None:
        """Nobody will say that those deeper than this ended."""
        while self.depth() > depth:
            self.end(failed)


class _Imports(importlib.abc.MetaPathFinder):
    """Calls back when a module has been imported, and is no finder otherwise."""

    def __init__(self) -> None:
        self._waiting: dict[str, list[Callable[[], None]]] = {}

    def add(self, name: str, call: Callable[[], None]) -> None:
        self._waiting.setdefault(name, []).append(call)
        if self not in sys.meta_path:
            sys.meta_path.insert(0, self)

    def drop(self, name: str, call: Callable[[], None]) -> None:
        left = [one for one in self._waiting.get(name, []) if one is not call]
        self._waiting[name] = left
        if not left:
            del self._waiting[name]
        if not self._waiting and self in sys.meta_path:
            sys.meta_path.remove(self)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname not in self._waiting:
            return None
        for finder in sys.meta_path:
            find = None if finder is self else getattr(finder, "find_spec", None)
            spec = None if find is None else find(fullname, path, target)
            if spec is not None:
                self._call_after(fullname, spec.loader)
                return spec  # type: ignore[no-any-return]
        return None

    def _call_after(self, name: str, loader: Any) -> None:
        run = getattr(loader, "exec_module", None)
        if run is None:
            return

        def exec_module(module: ModuleType) -> None:
            with contextlib.suppress(AttributeError):
                del loader.exec_module  # as it was, before the module can see it
            run(module)
            while self._waiting.get(name):
                call = self._waiting[name][0]
                self.drop(name, call)
                call()

        with contextlib.suppress(AttributeError):  # a loader without attributes: nobody is called
            loader.exec_module = exec_module


_imports = _Imports()


def when_imported(name: str, call: Callable[[], None]) -> Callable[[], None]:
    """Calls now where the module is there, else as soon as the program has imported it. The result takes that back."""

    def safely() -> None:
        try:
            call()
        except Exception as error:  # the program's import is not what failed
            print(f"fathom: {name} cannot be watched: {type(error).__name__}: {error}", file=sys.stderr)

    module = sys.modules.get(name)
    if module is not None and not getattr(module.__spec__, "_initializing", False):
        safely()
        return lambda: None
    _imports.add(name, safely)

    def undo() -> None:
        if safely in _imports._waiting.get(name, []):
            _imports.drop(name, safely)

    return undo
