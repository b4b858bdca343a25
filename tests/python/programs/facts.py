# SPDX-License-Identifier: MIT
"""What decorated functions, and what they give, look like from outside; prints what differs from the undecorated."""

import abc
import asyncio
import collections.abc
import contextlib
import copy
import functools
import gc
import inspect
import pickle
import sys
import types
import weakref

import fathom

wrong = []


def same(what, wanted, got):
    if wanted != got:
        wrong.append((what, wanted, got))


def numbers(count):
    for number in range(count):
        last = number
        yield last


async def waits(value):
    await asyncio.sleep(0)
    return value


async def streams(count):
    for number in range(count):
        await asyncio.sleep(0)
        yield number


@types.coroutine
def old_style(value):
    yield
    return value


QUESTIONS = {
    "types": lambda x: [isinstance(x, kind) for kind in (types.GeneratorType, types.CoroutineType)],
    "abstract types": lambda x: [
        isinstance(x, getattr(collections.abc, kind))
        for kind in ("Generator", "Iterator", "Iterable", "Coroutine", "Awaitable", "AsyncGenerator", "AsyncIterator")
    ],
    "inspect": lambda x: [
        inspect.isgenerator(x),
        inspect.iscoroutine(x),
        inspect.isawaitable(x),
        inspect.isasyncgen(x),
    ],
    "name": lambda x: (x.__name__, x.__qualname__),
    "weak": lambda x: weakref.ref(x)() is x,
    "iterable": lambda x: hasattr(type(x), "__iter__"),
    "asyncio": asyncio.iscoroutine,
}


def objects():
    for function in (numbers, waits, streams):
        plain, traced = function(3), fathom.trace(function)(3)
        for question, ask in QUESTIONS.items():
            same((function.__name__, question), ask(plain), ask(traced))
        for one in (plain, traced):
            if inspect.iscoroutine(one):
                one.close()  # never awaited, and on purpose


def generators():
    traced = fathom.trace(numbers)
    running = traced(3)
    same("state", "GEN_CREATED", inspect.getgeneratorstate(running))
    next(running)
    same(
        "state",
        ("GEN_SUSPENDED", {"count": 3, "number": 0, "last": 0}),
        (inspect.getgeneratorstate(running), running.gi_frame.f_locals),
    )
    same("rest", ([1, 2], []), (list(running), list(running)))
    same("state", "GEN_CLOSED", inspect.getgeneratorstate(running))

    @contextlib.contextmanager
    @fathom.trace
    def manager():
        try:
            yield 1
        except KeyError:
            yield 2

    with manager() as value:
        same("context manager", 1, value)
    try:
        with manager():
            raise KeyError
    except RuntimeError as error:
        same("does not stop", True, "didn't stop" in str(error))

    @fathom.trace
    def itself():
        try:
            next(me)
        except ValueError as error:
            yield str(error)

    me = itself()
    same("runs already", ["generator already executing"], list(me))


def coroutines():
    async def all_kinds():
        same("awaited", (1, 2, 3), (await fathom.trace(waits)(1), await fathom.trace(old_style)(2), await waits(3)))
        same("tuple", (1, 2), await fathom.trace(waits)((1, 2)))
        same("task", 4, await asyncio.ensure_future(fathom.trace(waits)(4)))
        same("timeout", 5, await asyncio.wait_for(fathom.trace(waits)(5), 10))
        same("stream", [0, 1, 2], [number async for number in fathom.trace(streams)(3)])
        stream = fathom.trace(streams)(5)
        same("anext", (0, 1), (await stream.__anext__(), await stream.asend(None)))
        await stream.aclose()
        same("closed", [], [number async for number in stream])
        try:
            await fathom.trace(streams)(5).athrow(KeyError("x"))
        except KeyError as error:
            same("thrown", ("x",), error.args)

    asyncio.run(all_kinds())
    same("by hand", (1, 2), by_hand(fathom.trace(waits)((1, 2))))


def by_hand(coroutine):
    try:
        while True:
            coroutine.send(None)
    except StopIteration as stop:
        return stop.value


def methods():
    class Base(abc.ABC):
        @abc.abstractmethod
        def area(self):
            """Of it."""

    @fathom.trace
    class Square(Base):
        name = "square"
        helper = len  # not of its body
        half = staticmethod(lambda x: x / 2)

        def __init__(self, side):
            self.side = side

        def __call__(self):
            return self.area()

        def area(self):
            return self.side * self.side

        @property
        def sides(self):
            return 4

        @classmethod
        def unit(cls):
            return cls(1)

        def __eq__(self, other):
            return self.side == other.side

        def __hash__(self):
            return self.side

    square = Square(3)
    same("class", (9, 9, 4, 1.5, 1), (square(), square.area(), square.sides, square.half(3), Square.unit().side))
    same("slots", ({square}, True), ({Square(3)}, Square(3) == square))
    same("copy", 3, pickle.loads(pickle.dumps(copy.copy(plain_square))).side)
    bound = square.area
    same("bound", (square, 9), (bound.__self__, bound()))
    same("partial", 9, functools.partial(Square.area, square)())
    same("cached", 2, functools.lru_cache()(fathom.trace(lambda x: x + 1))(1))
    try:
        fathom.trace(3)
    except TypeError as error:
        same("refused", "only what can be called can be traced, not a int", str(error))


@fathom.trace
class Plain:
    def __init__(self, side):
        self.side = side


plain_square = Plain(3)


def references():
    """Nothing is kept: of arguments, results, exceptions, generators."""
    token, traced = object(), fathom.trace(lambda x: x)

    def raises(x):
        raise ValueError(x)

    failing, gen, co = fathom.trace(raises), fathom.trace(numbers), fathom.trace(waits)
    before = sys.getrefcount(token)
    for _ in range(100):
        traced(token)
        fathom.region("r", token=token)
        for _item in fathom.iter([token], "loop"):
            fathom.arg("token", token)
        for function in (failing, traced):
            with contextlib.suppress(ValueError):
                function(token)
        next(gen(3))
        by_hand(co(token))
        del _item
    gc.collect()
    same("references", before, sys.getrefcount(token))
    traced_itself = weakref.ref(fathom.trace(lambda: None))
    same("freed", None, traced_itself())


for part in (objects, generators, coroutines, methods, references):
    part()
print(wrong or "same")
