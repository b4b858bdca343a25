# SPDX-License-Identifier: MIT
"""Hooks into Keras 3, on any of its backends. Epochs and steps are told where Keras calls its callbacks, and not by one
of ours among the program's: Keras calls callbacks in a thread of their own as long as none wants to hear of batches.
"""

from __future__ import annotations

import functools
from typing import Any, Callable, Iterator

from fathom._hooks import Patches, Phase, Places, Shared, Span, module_of, told
from fathom._passes import data, here

_EPOCH, _EVALUATE = Span("epoch", None, is_work=False), Span("evaluate", None, is_work=False)
_PREDICT, _STEP = Span("predict", "pipeline", is_work=False), Span("step", None, is_work=False)

# The methods of a CallbackList, and what they begin or end.
_BEGINS = {
    "on_epoch_begin": _EPOCH,
    "on_train_batch_begin": _STEP,
    "on_test_begin": _EVALUATE,
    "on_predict_begin": _PREDICT,
}
_ENDS = {
    "on_epoch_end": _EPOCH,
    "on_train_batch_end": _STEP,
    "on_test_end": _EVALUATE,
    "on_predict_end": _PREDICT,
}
# A function of TensorFlow or JAX that runs, or is traced: what is called in it belongs to it.
_COMPILED = frozenset(("call", "trace"))


def keras() -> Any:
    return module_of(
        "keras", "pip install keras and one of its backends; the other functions of fathom.keras do without"
    )


_patches = Patches()
_shared = Shared(_patches)
_is_told = _shared.is_told


def install() -> Callable[[], None]:
    """Hooks what is not hooked yet; the result takes it back."""
    return _shared.install(
        "keras", keras().__version__, (_hook_callbacks, _hook_data, _hook_compute, _hook_checkpoints)
    )


def _hook_callbacks(places: Places) -> None:
    callbacks = places.find("keras.callbacks", "CallbackList")
    for name, span in _BEGINS.items() if callbacks else ():
        _patches.put(callbacks, name, functools.partial(_begins, span))
    for name, span in _ENDS.items() if callbacks else ():
        _patches.put(callbacks, name, functools.partial(_ends, span))
    model = places.find("keras", "Model")
    for name in ("fit", "evaluate", "predict") if model else ():
        _patches.put(model, name, _may_fail)


def _begins(span: Span, original: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(original)
    def on_begin(self: Any, *arguments: Any, **named: Any) -> None:
        if _is_told():
            span.begin()
        original(self, *arguments, **named)

    return on_begin


def _ends(span: Span, original: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(original)
    def on_end(self: Any, *arguments: Any, **named: Any) -> None:
        try:
            original(self, *arguments, **named)
        except BaseException as error:
            span.end(type(error))
            raise
        span.end()

    return on_end


def _may_fail(original: Callable[..., Any]) -> Callable[..., Any]:
    """Nobody calls back at the end of what fails."""

    @functools.wraps(original)
    def run(*arguments: Any, **named: Any) -> Any:
        spans = (_STEP, _PREDICT, _EVALUATE, _EPOCH)
        before = [span.depth() for span in spans]
        try:
            return original(*arguments, **named)
        except BaseException as error:
            for span, depth in zip(spans, before):
                span.abandon(type(error), depth)
            raise

    return run


def _hook_data(places: Places) -> None:
    """On TensorFlow a batch is fetched inside the compiled function, out of sight."""
    base = places.find("keras.src.trainers.epoch_iterator", "EpochIterator")
    if base is None:
        return
    for kind in base.__subclasses__():
        if kind.__name__ != "TFEpochIterator" and "_get_iterator" in vars(kind):
            _patches.put(kind, "_get_iterator", _fetches)


class _Fetched:
    """An iterable, and how long its user waits for each batch of it."""

    def __init__(self, iterable: Any) -> None:
        self._iterable = iterable

    def __iter__(self) -> Iterator[Any]:
        return _Fetches(data("start", "dataloader", lambda: iter(self._iterable)))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._iterable, name)


class _Fetches:
    def __init__(self, iterator: Iterator[Any]) -> None:
        self._iterator = iterator

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        return data("fetch", "dataloader", lambda: next(self._iterator))


def _fetches(original: Callable[[Any], Any]) -> Callable[[Any], Any]:
    @functools.wraps(original)
    def _get_iterator(self: Any) -> Any:
        made = original(self)
        return _Fetched(made) if _is_told() else made

    return _get_iterator


def _hook_compute(places: Places) -> None:
    layer, loss = places.find("keras", "Layer"), places.find("keras", "Loss")
    optimizer = places.find("keras.optimizers", "Optimizer")
    symbolic = places.find("keras.src.backend.common.keras_tensor", "any_symbolic_tensors")
    in_scope = places.find("keras.src.backend.common.symbolic_scope", "in_symbolic_scope")
    if symbolic is not None and in_scope is not None:
        is_real = functools.partial(_is_real, symbolic, in_scope)
        for kind, name, fact in ((layer, "forward", "module"), (loss, "loss", "module")):
            if kind is not None:
                _patches.put(kind, "__call__", functools.partial(_computes, name, fact, is_real))
    if optimizer is not None:
        _patches.put(optimizer, "apply", told("optimizer", "compute", _is_eager, _class_of))


def _is_eager() -> bool:
    return _is_told() and not here.open & _COMPILED


def _class_of(optimizer: Any) -> dict[str, object]:
    return {"optimizer": type(optimizer).__name__}


def _is_real(symbolic: Callable[..., bool], in_scope: Callable[[], bool], given: Any, named: Any) -> bool:
    """Computes numbers; a model that is built is called with shapes alone."""
    return not in_scope() and not symbolic(given, named)


def _computes(
    name: str, fact: str, is_real: Callable[[Any, Any], bool], original: Callable[..., Any]
) -> Callable[..., Any]:
    @functools.wraps(original)
    def __call__(self: Any, *given: Any, **named: Any) -> Any:  # noqa: N807
        if here.open or here.data or not _is_told() or not is_real(given, named):
            return original(self, *given, **named)
        with Phase(name, "compute", {fact: type(self).__name__}):
            return original(self, *given, **named)

    return __call__


def _hook_checkpoints(places: Places) -> None:
    model = places.find("keras", "Model")
    for name in ("save", "save_weights", "load_weights") if model else ():
        _patches.put(model, name, told("load" if name.startswith("load") else "save", "checkpoint", _is_told))
    for name in ("save_model", "load_model"):
        of_all = places.find("keras.src.saving.saving_api", name)
        if of_all is None:
            continue
        ours = told(name[:4], "checkpoint", _is_told)(of_all)
        for module in ("keras.src.saving.saving_api", "keras.saving", "keras.models"):
            owner = places.find(module)
            if owner is not None and getattr(owner, name, None) is of_all:
                _patches.put(owner, name, functools.partial(_same, ours))


def _same(ours: Any, original: Any) -> Any:
    del original
    return ours
