# SPDX-License-Identifier: MIT
"""Every operation of a compiled PyTorch function as an event: a backend of torch.compile that times the graph's nodes.

Without PyTorch, or with one that cannot compile, nothing fails until something is to be compiled.
"""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from typing import Any

from dftracer._ai import Node
from dftracer._events import decorator, native

__all__ = [
    "CAT_DYNAMO",
    "TORCH_AVAILABLE",
    "CallStackRecord",
    "Dynamo",
    "create_backend",
    "create_detailed_op_name",
    "dynamo",
]

CAT_DYNAMO = "dynamo"
TORCH_AVAILABLE = importlib.util.find_spec("torch") is not None

_TIMED = ("call_module", "call_function", "call_method")


@dataclass
class CallStackRecord:
    """An operation that has begun."""

    op_name: str
    op_type: str
    target: str
    timestamp_us: int
    grad_enabled: bool


def create_detailed_op_name(node: Any, gm: Any) -> str:
    if node.op == "call_module":
        return f"{node.target}.{type(gm.get_submodule(node.target)).__name__}_{node.name}"
    if node.op == "call_function":
        return f"function.{getattr(node.target, '__name__', node.target)}"
    return f"method.{node.name}"


class Dynamo(Node):
    def __init__(self, name: str | None = None, enable: bool = True, **told: Any) -> None:
        super().__init__(cat=CAT_DYNAMO, name=name, enable=enable, **told)
        self._begun: list[CallStackRecord] = []

    def reset(self) -> Any:
        """What has begun is forgotten."""
        self._begun.clear()
        return super().reset()

    def _begin(self, name: str, kind: str, target: str, grad: bool) -> None:
        self._begun.append(CallStackRecord(name, kind, target, native.get_time(), grad))

    def _end(self) -> None:
        begun = self._begun.pop()
        native.log_event(begun.op_name, self.cat, begun.timestamp_us, native.get_time() - begun.timestamp_us)

    def count_parameters(self, module: Any) -> int | None:
        """How many numbers a module learns."""
        parameters = getattr(module, "parameters", None)
        return sum(one.numel() for one in parameters() if one.requires_grad) if callable(parameters) else None

    def add_enhanced_timing_to_graph(self, gm: Any) -> Any:
        """The graph with a call before and a call after each of its operations."""
        grad = bool(_torch().is_grad_enabled())
        for node in [node for node in gm.graph.nodes if node.op in _TIMED]:
            with gm.graph.inserting_before(node):
                words = (create_detailed_op_name(node, gm), node.op, str(node.target), grad)
                gm.graph.call_function(self._begin, args=words)
            with gm.graph.inserting_after(node):
                gm.graph.call_function(self._end)
        gm.recompile()
        return gm

    def backend(self, autograd: bool) -> Any:
        def timed(module: Any, inputs: Any, **options: Any) -> Any:
            del inputs, options
            forward = self.add_enhanced_timing_to_graph(module).forward if self._on else module.forward
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
        if not self._on:
            return decorator(lambda later: later, f_py)
        return decorator(lambda later: _compiler().compile(later, backend=self.backend(autograd)), f_py)


def _torch() -> Any:
    try:
        import torch
    except ImportError as error:
        raise RuntimeError("PyTorch is not available: torch cannot be imported") from error
    return torch


def _compiler() -> Any:
    torch = _torch()
    if not hasattr(torch, "compile"):
        raise RuntimeError(f"PyTorch {torch.__version__} has no torch.compile; 2.0 has")
    return torch


dynamo = Dynamo()


def create_backend(name: str | None = None, enable: bool = True, autograd: bool = True, **told: Any) -> Any:
    """What torch.compile takes as `backend`."""
    _compiler()
    return Dynamo(name, enable, **told).backend(autograd)
