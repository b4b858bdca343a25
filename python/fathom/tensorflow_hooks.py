# SPDX-License-Identifier: MIT
"""Hooks into TensorFlow 2: functions that it traces and calls, batches of tf.data, gradients, checkpoints, and the
program's own traces. Keras has hooks of its own (keras_hooks.py).
"""

from __future__ import annotations

import functools
import sys
from typing import Any, Callable

from fathom._hooks import Patches, Phase, Places, Shared, Span, module_of, told
from fathom._passes import data, here
from fathom.annotate import arg, region

_tracing = Span("trace", "compile")
_COMPILED = frozenset(("call", "trace"))


def tensorflow() -> Any:
    return module_of(
        "tensorflow", "pip install tensorflow-cpu, or tensorflow; the other functions of fathom.tensorflow do without"
    )


_patches = Patches()
_shared = Shared(_patches)
_is_told = _shared.is_told


def install() -> Callable[[], None]:
    """Hooks what is not hooked yet; the result takes it back."""
    return _shared.install(
        "tensorflow",
        tensorflow().__version__,
        (_hook_functions, _hook_data, _hook_gradients_and_checkpoints, _hook_traces),
    )


def _is_eager() -> bool:
    return _is_told() and not here.open & _COMPILED


def _hook_functions(places: Places) -> None:
    function = places.find("tensorflow.python.eager.polymorphic_function.polymorphic_function", "Function")
    if function is not None:
        _patches.put(function, "__call__", _calls)
    compilation = places.find("tensorflow.python.eager.polymorphic_function.tracing_compilation")
    if compilation is not None and hasattr(compilation, "_create_concrete_function"):
        _patches.put(compilation, "_create_concrete_function", _traces)


def _calls(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def __call__(self: Any, *arguments: Any, **named: Any) -> Any:  # noqa: N807
        if here.open or here.data or not _is_told():
            return original(self, *arguments, **named)
        before = self.experimental_get_tracing_count()
        with Phase("call", "compute", {"function": str(self.name)}):
            result = original(self, *arguments, **named)
            after = self.experimental_get_tracing_count()
            arg("cache", "hit" if before == after else "miss")
            if before != after:
                arg("tracings", after)  # of this function until now: more than a few are too many
            return result

    return __call__


def _traces(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def _create_concrete_function(*arguments: Any, **named: Any) -> Any:
        if not _is_told() or here.data:
            return original(*arguments, **named)
        options = named.get("tracing_options", arguments[-1] if arguments else None)
        _tracing.begin(function=str(getattr(options, "name", "")))
        try:
            result = original(*arguments, **named)
        except BaseException as error:
            _tracing.end(type(error))
            raise
        _tracing.end()
        return result

    return _create_concrete_function


def _hook_data(places: Places) -> None:
    iterator = places.find("tensorflow.python.data.ops.iterator_ops", "OwnedIterator")
    if iterator is None:
        return
    _patches.put(iterator, "__init__", functools.partial(_waits, "start"))
    for name in ("__next__", "get_next"):
        _patches.put(iterator, name, functools.partial(_waits, "fetch"))


def _waits(name: str, original: Callable[..., Any]) -> Callable[..., Any]:
    """Python waits for a batch; in a function that was traced nobody waits here."""
    is_eager = tensorflow().executing_eagerly

    @functools.wraps(original)
    def wait(*arguments: Any, **named: Any) -> Any:
        if here.data or not _is_eager() or not is_eager():
            return original(*arguments, **named)
        return data(name, "dataloader", lambda: original(*arguments, **named))

    return wait


def _hook_gradients_and_checkpoints(places: Places) -> None:
    tape = places.find("tensorflow", "GradientTape")
    for name in ("gradient", "jacobian") if tape else ():
        _patches.put(tape, name, told("backward", "compute", _is_eager))
    checkpoint = places.find("tensorflow", "train.Checkpoint")
    names = {"save": "save", "write": "save", "restore": "load", "read": "load"}
    for name, phase in names.items() if checkpoint else ():
        _patches.put(checkpoint, name, told(phase, "checkpoint", _is_eager))
    saved = places.find("tensorflow", "saved_model")
    for name in ("save", "load") if saved else ():
        _patches.put(saved, name, told(name, "checkpoint", _is_eager))


def _hook_traces(places: Places) -> None:
    """tf.profiler.experimental.Trace is a region, and with a `step_num` a step."""
    trace = places.find("tensorflow", "profiler.experimental.Trace")
    if trace is None:
        return

    def init(original: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(original)
        def __init__(self: Any, name: Any, **named: Any) -> None:  # noqa: N807
            original(self, name, **named)
            caller = sys._getframe(1).f_globals.get("__name__", "")
            if not _is_eager() or caller.startswith(("tensorflow.", "keras.")):
                return
            facts = {key: value for key, value in named.items() if key != "_r"}
            of_step = "step_num" in facts
            self._fathom_region = region("step", label=str(name), **facts) if of_step else region(str(name), **facts)
            self._fathom_region.__enter__()  # as TensorFlow's own begins here

        return __init__

    _patches.put(trace, "__init__", init)
    _patches.put(trace, "__exit__", _exit)


def _exit(original: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(original)
    def __exit__(self: Any, kind: Any, error: Any, trace: Any) -> None:  # noqa: N807
        if "_fathom_region" in vars(self):
            vars(self).pop("_fathom_region").__exit__(kind)
        original(self, kind, error, trace)

    return __exit__
