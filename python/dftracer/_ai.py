# SPDX-License-Identifier: MIT
"""The tree of names that AI programs share: `ai.compute.forward` and so on."""

from __future__ import annotations

import functools
from typing import Any, Iterable, Iterator

from dftracer._events import Annotation, Arguments, decorator, native, numbered, takes_args, traced

_IO = ("open", "read", "write", "close")
TREE: dict[str, Any] = {
    "compute": ("forward", "backward", "step"),
    "data": ("preprocess", "item", {"io": _IO}),
    "dataloader": ("fetch",),
    "comm": (
        "send",
        "receive",
        "barrier",
        "bcast",
        "reduce",
        "all_reduce",
        "gather",
        "all_gather",
        "scatter",
        "reduce_scatter",
        "all_to_all",
    ),
    "device": ("transfer",),
    "checkpoint": ("capture", "restart", {"io": _IO}),
    "pipeline": ("epoch", "train", "evaluate", "test"),
    "other": ("log", {"io": _IO}),
}


class Node(Annotation):
    """A name of the tree: decorator, block, loop, and whatever `derive` makes of it."""

    def __init__(self, *, cat: str, name: str | None = None, enable: bool = True, **told: Any) -> None:
        super().__init__(cat, name or cat, enable=enable, **told)
        self._category = cat
        self._called = name or cat
        self._switch = enable
        self._children: dict[str, Node] = {}

    @property
    def cat(self) -> str:
        return self._category

    @property
    def name(self) -> str:
        return self._called

    def child(self, attribute: str, name: str) -> Node:
        made = self._children[attribute] = Node(cat=self._category, name=name, enable=self._switch)
        setattr(self, attribute, made)
        return made

    def __call__(
        self, fn: Any = None, *, enable: bool | None = None, args: Arguments | None = None, **told: Any
    ) -> Any:
        """`@node`, or with arguments a node like this one that has them."""
        if fn is not None:
            self.update(args=args, **told)
            return self._decorator(fn, None) if enable is not False else fn
        made = Node(cat=self._category, name=self._called, enable=self._switch if enable is None else enable)
        if made._enable:
            made._arguments.update(self._arguments)
        return made.update(args=args, **told)

    def _decorator(self, function: Any, name: str | None) -> Any:
        """On and off at run time, unlike other annotations."""
        if native is None:
            return decorator(lambda later: later, function)
        return decorator(lambda later: self._switched(later, name), function)

    def _switched(self, function: Any, name: str | None) -> Any:
        recorded = traced(function, name or self._called, self._category, lambda: dict(self._arguments))
        if isinstance(function, (staticmethod, classmethod)):
            return recorded

        @functools.wraps(function)
        def switched(*given: Any, **named: Any) -> Any:
            return recorded(*given, **named) if self._enable else function(*given, **named)

        return switched

    @property
    def init(self) -> Node:
        """Of a class's __init__."""
        return self.derive("init")

    def derive(self, name: str) -> Node:
        called = f"{self._called}.{name}"
        known = self._children.get(called)
        if known is not None:
            return known
        made = self._children[called] = Node(cat=self._category, name=called, enable=self._switch)
        if made._enable:
            made._arguments.update(self._arguments)
        return made

    def update(  # type: ignore[override]
        self,
        epoch: Any = None,
        step: Any = None,
        image_idx: Any = None,
        image_size: Any = None,
        args: Arguments | None = None,
    ) -> Node:
        super().update(epoch, step, image_idx, image_size, args)
        for node in getattr(self, "_children", {}).values():
            node.update(epoch, step, image_idx, image_size, args)
        return self

    def enable(self) -> None:
        self._set(True)

    def disable(self) -> None:
        self._set(False)

    def _set(self, on: bool) -> None:
        self._switch = on
        self._enable = on and native is not None
        if self._enable and not hasattr(self, "_arguments"):
            self._cat, self._name, self._arguments = self._category, self._called, {}
        for node in self._children.values():
            node._set(on)

    def get_time(self) -> int:
        return native.get_time() if native is not None else 0

    def start(self, metadata: bool = False) -> None:
        if metadata:
            self.log_metadata(f"{self._called}.start", str(self.get_time()))
        else:
            self.__enter__()

    def stop(self, metadata: bool = False) -> None:
        if metadata:
            self.log_metadata(f"{self._called}.end", str(self.get_time()))
        else:
            self.__exit__(None, None, None)

    def iter(
        self,
        iterator: Iterable[Any],
        *,
        include_block: bool = True,
        include_iter: bool = True,
        iter_name: str | None = None,
        block_name: str | None = None,
    ) -> Iterator[Any]:
        """Every turn of a loop as two events: `<name>.iter`, until the item is there, and `<name>.block`, the body."""
        if not self._enable:
            return iter(iterator)
        arrival = iter_name or _ending(self._called, ".iter")
        body = block_name or _ending(self._called, ".block")
        names = (arrival if include_iter else None, body if include_block else None)
        return numbered(iterator, names, self._category, "count", self._arguments if takes_args else {})


def _ending(name: str, end: str) -> str:
    return name if name.endswith(end) else name + end


def _grow(node: Node, names: Iterable[Any], prefix: str) -> None:
    for name in names:
        if isinstance(name, str):
            node.child(name, prefix + name)
            continue
        for group, members in name.items():
            _grow(node.child(group, f"{node.name}.{group}"), members, f"{node.name}.{group}.")


def tree() -> Node:
    root = Node(cat="ai_root")
    for category, names in TREE.items():
        node = root._children[category] = Node(cat=category)
        setattr(root, category, node)
        _grow(node, names, "")
    return root
