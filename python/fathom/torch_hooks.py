# SPDX-License-Identifier: MIT
"""Hooks into PyTorch. They replace functions of its modules and classes, never attributes of a model or a DataLoader:
what the program saves, copies or sends to a worker is as it would be without us.
"""

from __future__ import annotations

import functools
import importlib
import threading
import weakref
from typing import Any, Callable

from fathom._error import Error
from fathom.annotate import region
from fathom.torch_passes import Pass, data, here, recording

_MARK = "_fathom_hook"
_PASS = "_fathom_pass"


def torch() -> Any:
    try:
        return importlib.import_module("torch")
    except ModuleNotFoundError as error:
        hint = "pip install torch (Debian: python3-torch); the other functions of fathom.torch do without"
        raise Error("torch is not installed", hint, "unsupported") from error


class Chosen:
    """What one `watch` asks for. It keeps nothing alive."""

    def __init__(
        self,
        models: list[Any] | None = None,
        optimizers: list[Any] | None = None,
        loaders: list[Any] | None = None,
        everything: bool = False,
    ) -> None:
        for what, kind, objects in (
            ("model", torch().nn.Module, models),
            ("optimizer", torch().optim.Optimizer, optimizers),
            ("loader", torch().utils.data.DataLoader, loaders),
        ):
            for one in objects or []:
                if not isinstance(one, kind):
                    hint = "fathom.torch.loader() takes any iterable" if what == "loader" else ""
                    raise Error(f"{what} is no {kind.__name__} of torch but a {type(one).__name__}", hint, "usage")
        self.everything = everything
        self._objects = {
            "model": [weakref.ref(one) for one in models or []],
            "optimizer": [weakref.ref(one) for one in optimizers or []],
            "loader": [weakref.ref(one) for one in loaders or []],
        }

    def has(self, kind: str, one: Any) -> bool:
        return self.everything or any(ref() is one for ref in self._objects[kind])

    def of(self, kind: str) -> list[Any]:
        return [one for one in (ref() for ref in self._objects[kind]) if one is not None]


class _Patches:
    """Replaced attributes, and the way back. What somebody else has replaced since stays as it is."""

    def __init__(self) -> None:
        self._made: list[tuple[Any, str, Any, Any]] = []

    def put(self, owner: Any, name: str, make: Callable[[Any], Any]) -> None:
        own = vars(owner).get(name)
        ours = make(getattr(owner, name))
        setattr(ours, _MARK, True)
        setattr(owner, name, ours)
        self._made.append((owner, name, own, ours))

    def undo(self) -> None:
        for owner, name, own, ours in reversed(self._made):
            if vars(owner).get(name) is not ours:
                continue
            if own is None:
                delattr(owner, name)
            else:
                setattr(owner, name, own)
        self._made.clear()


_lock = threading.Lock()
_chosen: list[Chosen] = []
_patches = _Patches()


def _watched(kind: str, one: Any) -> bool:
    return any(chosen.has(kind, one) for chosen in _chosen)


def install(chosen: Chosen) -> None:
    with _lock:
        if not _chosen:
            _hook_loaders()
            _hook_models()
            _hook_backward_and_checkpoints()
            _hook_optimizers()
        _chosen.append(chosen)
        for optimizer in chosen.of("optimizer"):
            if "step" in vars(optimizer):  # a scheduler's, which holds what the class had before
                _patches.put(optimizer, "step", _step_of_instance(optimizer))


def remove(chosen: Chosen) -> None:
    with _lock:
        _chosen.remove(chosen)
        if not _chosen:
            _patches.undo()


class _Phase:
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


def _hook_loaders() -> None:
    loading = importlib.import_module("torch.utils.data.dataloader")
    worker = importlib.import_module("torch.utils.data._utils.worker")
    _patches.put(loading.DataLoader, "__iter__", _iter_of_loader)
    _patches.put(loading._BaseDataLoaderIter, "__next__", _next_of_loader)
    _patches.put(worker, "_worker_loop", _Loop)
    _hook_fetchers()


def _hook_fetchers() -> None:
    fetchers = importlib.import_module("torch.utils.data._utils.fetch")
    for fetcher in (fetchers._MapDatasetFetcher, fetchers._IterableDatasetFetcher):
        _patches.put(fetcher, "fetch", _fetch_of_batch)


def _iter_of_loader(original: Callable[[Any], Any]) -> Callable[[Any], Any]:
    is_training = torch().is_grad_enabled

    @functools.wraps(original)
    def __iter__(self: Any) -> Any:  # noqa: N807
        if here.data or not _watched("loader", self):
            return original(self)
        before = getattr(getattr(self, "_iterator", None), _PASS, None)
        if before is not None:  # workers that stay have one iterator for all passes
            before.close()
        one = Pass(training=is_training())
        iterator = one.start(lambda: original(self))
        ref = weakref.ref(iterator)  # no cycle: the pass ends when the iterator is dropped
        one.goes_over(lambda: next(ref()))  # type: ignore[arg-type]
        setattr(iterator, _PASS, one)
        return iterator

    return __iter__


def _next_of_loader(original: Callable[[Any], Any]) -> Callable[[Any], Any]:
    @functools.wraps(original)
    def __next__(self: Any) -> Any:  # noqa: N807
        one = vars(self).get(_PASS)
        if one is None or one.ended or here.data:
            return original(self)
        return next(one)

    return __next__


def _fetch_of_batch(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def fetch(self: Any, *arguments: Any) -> Any:
        if not here.data and not here.worker:
            return original(self, *arguments)
        return data("batch", "data", lambda: original(self, *arguments))

    return fetch


class _Loop:
    """What a worker runs. It is told where its DataLoader is, as `here.data` says while workers start."""

    def __init__(self, original: Callable[..., Any]) -> None:
        self._original = original

    def __call__(self, *arguments: Any, **named: Any) -> Any:  # in a forked worker
        here.worker, here.data, here.open = here.data, False, frozenset()
        return self._original(*arguments, **named)

    def __reduce__(self) -> tuple[Any, ...]:
        return _loop_of_spawned, (here.data,)


def _loop_of_spawned(told: bool) -> Any:
    loop = importlib.import_module("torch.utils.data._utils.worker")._worker_loop
    if told and recording():
        here.worker = True
        _hook_fetchers()
    return loop


def _hook_models() -> None:
    nn = importlib.import_module("torch.nn")
    compiler = getattr(torch(), "compiler", None)
    is_compiling = getattr(compiler, "is_compiling", bool)
    loss = importlib.import_module("torch.nn.modules.loss")._Loss

    def make(original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def __call__(self: Any, *arguments: Any, **named: Any) -> Any:  # noqa: N807
            if is_compiling():  # before all else: the compiler follows us no farther
                return original(self, *arguments, **named)
            if here.open or here.data or not _watched("model", self):
                return original(self, *arguments, **named)
            name = "loss" if isinstance(self, loss) else "forward"
            with _Phase(name, "compute", {"module": type(self).__name__}):
                return original(self, *arguments, **named)

        return __call__

    _patches.put(nn.Module, "__call__", make)


def _told(name: str, category: str) -> Callable[[Any], Any]:
    def make(original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def phase(*arguments: Any, **named: Any) -> Any:
            if here.data or name in here.open or not _chosen:  # removed, but somebody holds it
                return original(*arguments, **named)
            with _Phase(name, category, {}):
                return original(*arguments, **named)

        return phase

    return make


def _same(told: Any, original: Any) -> Any:
    del original
    return told


def _hook_backward_and_checkpoints() -> None:
    autograd = importlib.import_module("torch.autograd")
    serialization = importlib.import_module("torch.serialization")
    _patches.put(autograd, "backward", _told("backward", "compute"))  # Tensor.backward calls it
    for name in ("save", "load"):
        _patches.put(serialization, name, _told(name, "checkpoint"))
        told = getattr(serialization, name)
        _patches.put(torch(), name, functools.partial(_same, told))  # one function by two names


def _step(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def step(self: Any, *arguments: Any, **named: Any) -> Any:
        if here.data or "optimizer" in here.open or not _watched("optimizer", self):
            return original(self, *arguments, **named)
        with _Phase("optimizer", "compute", {"optimizer": type(self).__name__}):
            return original(self, *arguments, **named)

    return step


def _step_of_instance(optimizer: Any) -> Callable[[Any], Any]:
    ref = weakref.ref(optimizer)

    def make(original: Callable[..., Any]) -> Callable[..., Any]:
        told = _step(lambda self, *arguments, **named: original(*arguments, **named))

        @functools.wraps(original)
        def step(*arguments: Any, **named: Any) -> Any:
            return told(ref(), *arguments, **named)

        return step

    return make


def _hook_optimizers() -> None:
    base = importlib.import_module("torch.optim").Optimizer
    _hook_steps(base)

    def make(original: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(original)
        def __init__(self: Any, *arguments: Any, **named: Any) -> None:  # noqa: N807
            original(self, *arguments, **named)
            for kind in type(self).__mro__ if _chosen else ():  # a class may be younger than the hooks
                _hook_step(kind)

        return __init__

    _patches.put(base, "__init__", make)


def _hook_steps(kind: Any) -> None:
    _hook_step(kind)
    for derived in kind.__subclasses__():
        _hook_steps(derived)


def _hook_step(kind: Any) -> None:
    step = vars(kind).get("step")
    if callable(step) and not getattr(step, _MARK, False):
        _patches.put(kind, "step", _step)
