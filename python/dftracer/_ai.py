# SPDX-License-Identifier: MIT
"""The tree of names that AI programs share: `ai.compute.forward` and so on."""

from __future__ import annotations

from typing import Any, Iterable, Iterator

from dftracer import _names as names
from dftracer._events import Annotation, Arguments, decorator, native, numbered, takes_args, traced


class Node(Annotation):
    """A name of the tree: decorator, block, loop, and whatever `derive` makes of it."""

    def __init__(self, *, cat: str, name: str | None = None, enable: bool = True, **told: Any) -> None:
        super().__init__(str(cat), str(name or cat), enable=enable, **told)
        self._children: dict[str, Node] = {}

    @property
    def cat(self) -> str:
        return self._cat

    @property
    def name(self) -> str:
        return self._name

    @property
    def profiler(self) -> Node:
        """The annotation behind it: itself."""
        return self

    def create_children(self, named: dict[str, str]) -> None:
        """By attribute, what they are called. They know what this one was told."""
        for attribute, name in named.items():
            made = self._children[attribute] = Node(cat=self._cat, name=name, enable=self._enable)
            made._arguments.update(self._arguments)
            setattr(self, attribute, made)

    def __call__(
        self, fn: Any = None, *, enable: bool | None = None, args: Arguments | None = None, **told: Any
    ) -> Any:
        """`@node`, or with arguments a node like this one that has them."""
        if fn is not None:
            self.update(args=args, **told)
            return self._decorator(fn, None) if enable is not False else fn
        made = Node(cat=self._cat, name=self._name, enable=self._enable if enable is None else enable)
        made._arguments.update(self._arguments)
        return made.update(args=args, **told)

    def _decorator(self, function: Any, name: str | None) -> Any:
        """On and off at run time, unlike other annotations."""
        if native is None:
            return decorator(lambda later: later, function)
        return decorator(lambda later: traced(later, name or self._name, self._cat, self), function)

    @property
    def init(self) -> Node:
        """Of a class's __init__."""
        return self.derive(names.INIT_NAME)

    def derive(self, name: str) -> Node:
        called = f"{self._name}{names.CTX_SEPARATOR}{name}"
        known = self._children.get(called)
        if known is not None:
            return known
        made = self._children[called] = Node(cat=self._cat, name=called, enable=self._enable)
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
        self._enable = on
        self._on = on and native is not None
        for node in self._children.values():
            node._set(on)

    def get_time(self) -> int:
        return native.get_time() if native is not None else 0

    def start(self, metadata: bool = False) -> None:
        if metadata:
            self.log_metadata(f"{self._name}{names.CTX_SEPARATOR}{names.START_METADATA_NAME}", str(self.get_time()))
        else:
            self.__enter__()

    def stop(self, metadata: bool = False) -> None:
        if metadata:
            self.log_metadata(f"{self._name}{names.CTX_SEPARATOR}{names.STOP_METADATA_NAME}", str(self.get_time()))
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
        if not self._on:
            return iter(iterator)
        arrival = iter_name or names.get_iter_handle_name(self._name)
        body = block_name or names.get_iter_block_name(self._name)
        parts = (arrival if include_iter else None, body if include_block else None)
        more = self._arguments if takes_args else {}
        return numbered(iterator, parts, self._cat, names.ITER_COUNT_NAME, more)


class IO(Node):
    """What an AI program does with files, below one of its categories."""

    def __init__(self, *, cat: str, parent_name: str, enable: bool = True, **told: Any) -> None:
        name = f"{parent_name}{names.CTX_SEPARATOR}io"
        super().__init__(cat=cat, name=name, enable=enable, **told)
        self.create_children({str(event): f"{name}{names.CTX_SEPARATOR}{event}" for event in names.IOEvent})


class Category(Node):
    """A category with the names of its events."""

    category = names.ProfileCategory.OTHER
    events: type[names.StringEnum] = names.OtherEvent
    prefix = ""  # of the events' names
    has_io = False

    def __init__(
        self,
        epoch: Any = None,
        step: Any = None,
        image_idx: Any = None,
        image_size: Any = None,
        enable: bool = True,
    ) -> None:
        told = {"epoch": epoch, "step": step, "image_idx": image_idx, "image_size": image_size}
        super().__init__(cat=str(self.category), enable=enable, **told)
        self.create_children({str(event): self.prefix + event for event in self.events})
        if self.has_io:
            self.io = self._children["io"] = IO(cat=self._cat, parent_name=self._name, enable=enable, **told)


class Compute(Category):
    category = names.ProfileCategory.COMPUTE
    events = names.ComputeEvent


class Data(Category):
    category = names.ProfileCategory.DATA
    events = names.DataEvent
    has_io = True


class DataLoader(Category):
    category = names.ProfileCategory.DATALOADER
    events = names.DataLoaderEvent


class Communication(Category):
    category = names.ProfileCategory.COMM
    events = names.CommunicationEvent


class Device(Category):
    category = names.ProfileCategory.DEVICE
    events = names.DeviceEvent


class Checkpoint(Category):
    category = names.ProfileCategory.CHECKPOINT
    events = names.CheckpointEvent
    has_io = True


class Pipeline(Category):
    category = names.ProfileCategory.PIPELINE
    events = names.PipelineEvent


class Other(Category):
    prefix = f"{names.ProfileCategory.OTHER}{names.CTX_SEPARATOR}"
    has_io = True


CATEGORIES = (Compute, Data, DataLoader, Communication, Device, Checkpoint, Pipeline, Other)


class AI(Node):
    """The root of the tree: `ai.compute.forward` and so on."""

    def __init__(
        self,
        epoch: Any = None,
        step: Any = None,
        image_idx: Any = None,
        image_size: Any = None,
        enable: bool = True,
    ) -> None:
        told = {"epoch": epoch, "step": step, "image_idx": image_idx, "image_size": image_size}
        super().__init__(cat=names.ROOT_CAT, name=names.ROOT_NAME, enable=enable, **told)
        for made in CATEGORIES:
            attribute = str(made.category)
            self._children[attribute] = made(enable=enable, **told)
            setattr(self, attribute, self._children[attribute])
