# SPDX-License-Identifier: MIT
"""Every operation of a compiled PyTorch function as an event: a backend of torch.compile that times the graph's nodes.

Without PyTorch, or with one that cannot compile, nothing fails until something is to be compiled.
"""

from __future__ import annotations

from typing import Any

from dftracer._ai import Node
from dftracer._events import decorator, native

__all__ = ["Dynamo", "create_backend", "dynamo"]

_TIMED = ("call_module", "call_function", "call_method")


def _name_of(node: Any, module: Any) -> str:
    if node.op == "call_module":
        return f"{node.target}.{type(module.get_submodule(node.target)).__name__}_{node.name}"
    if node.op == "call_function":
        return f"function.{getattr(node.target, '__name__', node.target)}"
    return f"method.{node.name}"


class Dynamo(Node):
    def __init__(self, name: str | None = None, enable: bool = True, **told: Any) -> None:
        super().__init__(cat="dynamo", name=name, enable=enable, **told)
        self._begun: list[tuple[str, int]] = []

    def _begin(self, name: str) -> None:
        self._begun.append((name, native.get_time()))

    def _end(self) -> None:
        name, start = self._begun.pop()
        native.log_event(name, self.cat, start, native.get_time() - start)

    def add_timing(self, module: Any) -> Any:
        """The graph with a call before and a call after each of its operations."""
        for node in [node for node in module.graph.nodes if node.op in _TIMED]:
            with module.graph.inserting_before(node):
                module.graph.call_function(self._begin, args=(_name_of(node, module),))
            with module.graph.inserting_after(node):
                module.graph.call_function(self._end)
        module.recompile()
        return module

    def backend(self, autograd: bool) -> Any:
        def timed(module: Any, inputs: Any, **options: Any) -> Any:
            del inputs, options
            forward = self.add_timing(module).forward if self._enable else module.forward
            return make_boxed_func(forward) if autograd else forward

        if not autograd:
            return timed
        try:
            from functorch.compile import make_boxed_func
            from torch._dynamo.backends.common import aot_autograd
        except ImportError as error:
            raise RuntimeError("this PyTorch has no AOT autograd; autograd=False does without") from error
        return aot_autograd(fw_compiler=timed)

    def compile(self, f_py: Any = None, autograd: bool = True) -> Any:
        """A function or module compiled with that backend; as it is where nothing is recorded."""
        if not self._enable:
            return decorator(lambda later: later, f_py)
        return decorator(lambda later: _torch().compile(later, backend=self.backend(autograd)), f_py)


def _torch() -> Any:
    try:
        import torch
    except ImportError as error:
        raise RuntimeError("PyTorch is not installed") from error
    if not hasattr(torch, "compile"):
        raise RuntimeError(f"PyTorch {torch.__version__} has no torch.compile; 2.0 has")
    return torch


dynamo = Dynamo()


def create_backend(name: str | None = None, enable: bool = True, autograd: bool = True, **told: Any) -> Any:
    """What torch.compile takes as `backend`."""
    _torch()
    return Dynamo(name, enable, **told).backend(autograd)
