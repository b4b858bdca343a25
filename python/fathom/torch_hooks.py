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
from fathom._hooks import MARK, Patches, Phase, Places, Span, module_of, told, when_imported
from fathom._passes import Pass, data, here, recording
from fathom.annotate import arg

_PASS = "_fathom_pass"


def torch() -> Any:
    return module_of(
        "torch", "pip install torch (Debian: python3-torch); the other functions of fathom.torch do without"
    )


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


_lock = threading.Lock()
_chosen: list[Chosen] = []
_patches = Patches()
_undo: list[Callable[[], None]] = []


def _watched(kind: str, one: Any) -> bool:
    return any(chosen.has(kind, one) for chosen in _chosen)


def install(chosen: Chosen) -> None:
    with _lock:
        if not _chosen:
            places = Places("torch", torch().__version__)
            _hook_loaders()
            _hook_models()
            _hook_backward_and_checkpoints()
            _hook_optimizers()
            _undo.append(when_imported("torch._dynamo", _hook_compiler))
            places.say_what_is_missing()
        _chosen.append(chosen)
        for optimizer in chosen.of("optimizer"):
            if "step" in vars(optimizer):  # a scheduler's, which holds what the class had before
                _patches.put(optimizer, "step", _step_of_instance(optimizer))


def remove(chosen: Chosen) -> None:
    with _lock:
        _chosen.remove(chosen)
        if not _chosen:
            _patches.undo()
            while _undo:
                _undo.pop()()


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
    loss = importlib.import_module("torch.nn.modules.loss")._Loss
    is_compiling, in_backward = _is_compiling(), _in_backward()

    def make(original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def __call__(self: Any, *arguments: Any, **named: Any) -> Any:  # noqa: N807
            if is_compiling():  # before all else: the compiler follows us no farther
                return original(self, *arguments, **named)
            if here.open or here.data or not _watched("model", self) or in_backward():
                return original(self, *arguments, **named)
            name = "loss" if isinstance(self, loss) else "forward"
            with Phase(name, "compute", {"module": _class_of(self)}):
                return original(self, *arguments, **named)

        return __call__

    _patches.put(nn.Module, "__call__", make)


def _class_of(module: Any) -> str:
    modules = vars(module).get("_modules", ())
    if "_orig_mod" in modules:  # of torch.compile
        module = modules["_orig_mod"]
    return type(module).__name__


def _is_compiling() -> Callable[[], bool]:
    compiler = getattr(torch(), "compiler", None)  # PyTorch 1 compiles nothing
    return getattr(compiler, "is_compiling", bool)


def _in_backward() -> Callable[[], bool]:
    """Whether this thread computes gradients, where checkpointed modules run again. A GPU has such a thread."""
    task = getattr(torch()._C, "_current_graph_task_id", None)
    return bool if task is None else lambda: bool(task() != -1)


def _same(ours: Any, original: Any) -> Any:
    del original
    return ours


def _hook_backward_and_checkpoints() -> None:
    autograd = importlib.import_module("torch.autograd")
    serialization = importlib.import_module("torch.serialization")
    is_compiling = _is_compiling()

    def is_told() -> bool:
        return bool(_chosen) and not is_compiling()  # somebody may hold what was removed

    _patches.put(autograd, "backward", told("backward", "compute", is_told))  # Tensor.backward calls it
    for name in ("save", "load"):
        _patches.put(serialization, name, told(name, "checkpoint", is_told))
        ours = getattr(serialization, name)
        _patches.put(torch(), name, functools.partial(_same, ours))  # one function by two names


def _step(original: Callable[..., Any]) -> Callable[..., Any]:
    is_compiling = _is_compiling()

    @functools.wraps(original)
    def step(self: Any, *arguments: Any, **named: Any) -> Any:
        if is_compiling():  # before all else, as above
            return original(self, *arguments, **named)
        if here.data or "optimizer" in here.open or not _watched("optimizer", self):
            return original(self, *arguments, **named)
        with Phase("optimizer", "compute", {"optimizer": type(self).__name__}):
            return original(self, *arguments, **named)

    return step


def _step_of_instance(optimizer: Any) -> Callable[[Any], Any]:
    ref = weakref.ref(optimizer)

    def make(original: Callable[..., Any]) -> Callable[..., Any]:
        of_class = _step(lambda self, *arguments, **named: original(*arguments, **named))

        @functools.wraps(original)
        def step(*arguments: Any, **named: Any) -> Any:
            return of_class(ref(), *arguments, **named)

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
    if callable(step) and not getattr(step, MARK, False):
        _patches.put(kind, "step", _step)


_compiling = Span("compile", "compile")


def _hook_compiler() -> None:
    """torch.compile calls back around each of its compilations, also of backward passes and of a graph's recording."""
    places = Places("torch", torch().__version__)
    skip = places.find("torch._dynamo.eval_frame", "skip_code")
    if skip is not None:  # it passes over our functions as it does over those of PyTorch that they stand for
        for code in _patches.codes():
            skip(code)
    handler = places.find("torch._dynamo.callback", "CompilationCallbackHandler")
    counters = places.find("torch._dynamo.utils", "counters")
    places.say_what_is_missing()
    if handler is not None and counters is not None:  # not its lists of callbacks, which torch._dynamo.reset() empties
        _patches.put(handler, "run_start_callbacks", functools.partial(_begins_to_compile, counters))
        _patches.put(handler, "run_end_callbacks", functools.partial(_has_compiled, counters))


def _breaks(counters: dict[str, dict[str, int]]) -> int:
    return sum(counters.get("graph_break", {}).values())


def _begins_to_compile(counters: dict[str, dict[str, int]], original: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(original)
    def run_start_callbacks(self: Any, *about: Any) -> None:  # before PyTorch 2.7 it says nothing of what it compiles
        original(self, *about)
        graph = next((one.compile_id for one in about if getattr(one, "compile_id", None)), None)
        if _compiling.begin(**({} if graph is None else {"graph": graph})):
            here.breaks = _breaks(counters)

    return run_start_callbacks


def _has_compiled(counters: dict[str, dict[str, int]], original: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(original)
    def run_end_callbacks(self: Any, *about: Any) -> None:
        more = _breaks(counters) - here.breaks
        if more > 0:
            arg("graph_breaks", more)
        _compiling.end()
        original(self, *about)

    return run_end_callbacks
