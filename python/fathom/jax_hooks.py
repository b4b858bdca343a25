# SPDX-License-Identifier: MIT
"""Hooks into JAX: its monitoring says when it traces, lowers and compiles; calls, waits and transfers are told by its
public functions. What the program computes, and what it finds in a compiled function, is as it would be without us.
"""

from __future__ import annotations

import functools
import sys
import types
from typing import Any, Callable

from fathom._hooks import Patches, Phase, Places, Shared, Span, like, module_of, told
from fathom._passes import here, recording
from fathom.annotate import arg, region

# Durations of jax.monitoring, and what they are called here. A scalar of the same name says when each begins.
_STAGES = {
    "/jax/core/compile/jaxpr_trace_duration": Span("trace", "compile"),
    "/jax/core/compile/jaxpr_to_mlir_module_duration": Span("lower", "compile"),
    "/jax/core/compile/backend_compile_duration": Span("compile", "compile"),
}
_CACHE_HIT = "/jax/compilation_cache/cache_hits"


def jax() -> Any:
    return module_of("jax", "pip install jax; the other functions of fathom.jax do without")


_patches = Patches()
_shared = Shared(_patches)
_is_told = _shared.is_told


def install() -> Callable[[], None]:
    """Hooks what is not hooked yet; the result takes it back."""
    return _shared.install("jax", jax().__version__, (_hook_compiler, _hook_calls, _hook_transfers, _hook_annotations))


def _hook_compiler(places: Places) -> None:
    """Listeners are added once: JAX before 0.8 has no public way to take one away. They ask whether they are wanted."""
    if getattr(_hook_compiler, "is_done", False):
        return
    begins = places.find("jax.monitoring", "register_scalar_listener")  # JAX 0.6; before, it says when it is done alone
    ends = places.find("jax.monitoring", "register_event_duration_secs_listener")
    happens = places.find("jax.monitoring", "register_event_listener")
    if begins is None or ends is None:
        return
    begins(_begins)
    ends(_ends)
    if happens is not None:
        happens(_happens)
    setattr(_hook_compiler, "is_done", True)  # noqa: B010


def _begins(event: str, value: float, **facts: Any) -> None:
    del value
    stage = _STAGES.get(event)
    if stage is not None and _is_told():
        name = str(facts.get("fun_name", ""))
        here.compilations += 1
        stage.begin(function=name[4:-1] if name.startswith("jit(") else name)


def _ends(event: str, duration: float, **facts: Any) -> None:
    del duration, facts
    stage = _STAGES.get(event)
    if stage is not None:
        stage.end()


def _happens(event: str, **facts: Any) -> None:
    del facts
    if event == _CACHE_HIT and "compile" in here.open:
        arg("cache", "hit")


def _hook_calls(_: Places) -> None:
    for name in ("jit", "pmap"):
        if hasattr(jax(), name):
            _patches.put(jax(), name, _compiler)


def _compiler(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def compiler(*arguments: Any, **named: Any) -> Any:
        made = original(*arguments, **named)
        if arguments:
            return Jitted(made)
        return lambda function: Jitted(made(function))  # jax.jit(static_argnames=…), JAX 0.8

    return compiler


class Jitted:
    """A compiled function. Whatever it is asked for beside its calls, the real one answers."""

    def __init__(self, real: Any) -> None:
        object.__setattr__(self, "_fathom_real", real)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        real = self._fathom_real
        if here.open or here.data or not _is_told():
            return real(*arguments, **named)
        before = here.compilations
        with Phase("call", "compute", {"function": getattr(real, "__name__", "")}):
            result = real(*arguments, **named)
            arg("cache", "hit" if before == here.compilations else "miss")
            return result

    def __getattr__(self, name: str) -> Any:
        return getattr(self._fathom_real, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._fathom_real, name, value)

    def __delattr__(self, name: str) -> None:
        delattr(self._fathom_real, name)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return type(self._fathom_real)

    @property  # type: ignore[misc]
    def __doc__(self) -> Any:  # type: ignore[override]
        return self._fathom_real.__doc__

    @property  # type: ignore[misc]
    def __module__(self) -> Any:  # type: ignore[override]
        return self._fathom_real.__module__

    def __dir__(self) -> list[str]:
        return dir(self._fathom_real)

    def __repr__(self) -> str:
        return repr(self._fathom_real)

    def __eq__(self, other: object) -> bool:
        return bool(self._fathom_real == getattr(other, "_fathom_real", other))

    def __hash__(self) -> int:
        return hash(self._fathom_real)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return jitted_again, (self._fathom_real,)


def jitted_again(real: Any) -> Any:
    """A compiled function that was copied, or sent to another process."""
    return Jitted(real) if recording() else real


def _hook_transfers(places: Places) -> None:
    _patches.put(jax(), "device_put", told("device_put", "transfer", _is_told))
    _patches.put(jax(), "device_get", told("device_get", "transfer", _is_told))
    _patches.put(jax(), "block_until_ready", told("wait", "compute", _is_told))
    array = places.find("jax._src.array", "ArrayImpl")
    if array is None:
        return
    _patches.put(array, "block_until_ready", told("wait", "compute", _is_told))
    if isinstance(vars(array).get("_value"), property):
        _patches.put(array, "_value", _value_of_host)


def _value_of_host(original: property) -> property:
    """float(x), print(x), numpy.asarray(x): the wait for a value that is not there yet, and its copy."""
    get = original.fget

    def _value(self: Any) -> Any:
        if not _is_told() or here.data or "device_get" in here.open or self._npy_value is not None:
            return get(self)  # type: ignore[misc]
        if not self.is_ready():
            self.block_until_ready()  # is told, and get() would do the same
        with Phase("device_get", "transfer", {}):
            return get(self)  # type: ignore[misc]

    return property(_value, original.fset, original.fdel, original.__doc__)


def _hook_annotations(places: Places) -> None:
    """jax.profiler's annotations are regions, and those of steps are steps."""
    plain = places.find("jax.profiler", "TraceAnnotation")
    steps = places.find("jax.profiler", "StepTraceAnnotation")
    if plain is None or steps is None:
        return

    def init(original: Callable[..., None]) -> Callable[..., None]:
        @like(original)
        def __init__(self: Any, name: Any, **named: Any) -> None:  # noqa: N807
            original(self, name, **named)
            if not _is_told() or _is_of_jax(sys._getframe(1)):
                return
            of_step = isinstance(self, steps)
            facts = {key: value for key, value in named.items() if key != "_r"}
            self._fathom_region = region("step", label=str(name), **facts) if of_step else region(str(name), **facts)

        return __init__

    _patches.put(plain, "__init__", init)
    _patches.put(plain, "__enter__", _enter)
    _patches.put(plain, "__exit__", _exit)


def _is_of_jax(frame: Any) -> bool:
    """Its own annotations: of the functions that it decorates with annotate_function."""
    while frame is not None and frame.f_globals.get("__name__") == "jax._src.profiler" and "func" not in frame.f_locals:
        frame = frame.f_back
    if frame is None:
        return False
    function = frame.f_locals.get("func")
    module = frame.f_globals.get("__name__", "")
    if module == "jax._src.profiler":
        module = getattr(function, "__module__", "") or ""
    return bool(module == "jax" or module.startswith(("jax.", "jaxlib.")))


def _enter(original: Callable[..., Any]) -> Callable[..., Any]:
    @like(original)
    def __enter__(self: Any) -> Any:  # noqa: N807
        found = original(self)
        if "_fathom_region" in vars(self):
            self._fathom_region.__enter__()
        return found

    return __enter__


def _exit(original: Callable[..., Any]) -> Callable[..., Any]:
    @like(original)
    def __exit__(self: Any, kind: Any = None, error: Any = None, trace: Any = None) -> Any:  # noqa: N807
        if "_fathom_region" in vars(self):
            vars(self).pop("_fathom_region").__exit__(kind)
        return original(self, kind, error, trace)

    return __exit__
