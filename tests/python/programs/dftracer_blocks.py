# SPDX-License-Identifier: MIT
"""Blocks and decorators of DFTracer as programs nest, share and leave them."""

import asyncio
import contextlib
import gc
import sys
import threading
import weakref

from dftracer.python import TagDType, TagType, TagValue, ai, dft_fn, dftracer

log = dftracer.initialize_log()
fn = dft_fn("B", name="shared")


def nested():
    with fn, fn:
        pass


async def task(number):
    with fn:
        await asyncio.sleep(0.01 * number)
        with dft_fn("B", name="task", step=number):
            await asyncio.sleep(0)


async def tasks():
    await asyncio.gather(*(task(number) for number in range(3)))


def threads():
    def work():
        for _ in range(100):
            with fn:
                pass

    made = [threading.Thread(target=work) for _ in range(3)]
    for one in made:
        one.start()
    for one in made:
        one.join()


def turns():
    with dft_fn("B", name="turn") as block:
        for number in range(2):
            block.update(step=number)
            yield number


class Model:
    step = 7

    @fn.log
    def method(self, epoch=1, *, image_idx=None):
        return epoch

    @fn.log
    def fails(self):
        raise ValueError


@fn.log
def told(epoch, step=5, **more):
    return epoch


@ai.compute.forward
def forward():
    pass


class Own(dft_fn):
    def __init__(self):
        super().__init__("B", name="own", epoch=3)
        self.more = 1


def objects():
    """Programs give them attributes, hold them weakly, and derive classes from theirs."""
    own = Own()
    assert (own._name, own.more, own._arguments) == ("own", 1, {"epoch": 3})
    for circle in (own, dft_fn("B", name="circle", step=1)):
        circle.itself = circle
        circle._arguments["itself"] = circle
    weak = [weakref.ref(own), weakref.ref(circle)]
    del own, circle
    gc.collect()
    assert [one() for one in weak] == [None, None]


class Plain(dft_fn):
    pass


class Slotted(dft_fn):
    __slots__ = ("own",)


class Mourned(dft_fn):
    gone = 0

    def __del__(self):
        Mourned.gone += 1


def used_again():
    """The memory of one that is gone is the next one's, which knows nothing of it."""
    for made in (dft_fn, Plain, Slotted, Mourned):
        old = [made("B", name=f"old {number}", step=number) for number in range(40)]
        for one in old:
            one.more = one.own = one
            one._arguments["more"] = 1
            one._enable = None
        del old, one
        gc.collect()
        new = [made("C", name="new") for _ in range(40)]
        assert {(one._cat, one._name, one._enable, len(one._arguments)) for one in new} == {("C", "new", True, 0)}
        assert not any(hasattr(one, "more") or hasattr(one, "own") or weakref.getweakrefcount(one) for one in new)
        del new
        before = sys.getrefcount(made)
        for _ in range(100):
            made("B", name="gone")
            Own()
        assert sys.getrefcount(made) == before, made
    before = sys.getrefcount(Own)
    Own()
    assert (sys.getrefcount(Own), Mourned.gone) == (before, 180)
    with contextlib.ExitStack() as stack:  # more than are kept
        for number in range(40):
            stack.enter_context(dft_fn("B", name="deep", step=number))


def main():
    objects()
    used_again()
    nested()
    asyncio.run(tasks())
    threads()
    assert list(turns()) == [0, 1]
    with dft_fn("B", name="early") as block:
        block.flush()
    dft_fn("B", name="by hand", epoch=2).reset().flush()
    with dft_fn("B"):  # by the function's name
        pass
    tag = TagValue(3, TagDType.INT, TagType.VALUE)
    with dft_fn("B", name="tagged", step=tag).update(args={"text": "a\0b", "large": 2**70}):
        pass
    model = Model()
    assert model.method(image_idx=4) == 1 and Model.method(model, 2) == 2
    with contextlib.suppress(ValueError):
        model.fails()
    told(1)
    told(step=6, epoch=2)
    told(3, step=None)
    ai.compute.forward.disable()
    forward()
    ai.compute.forward.enable()
    ai.update(step=9)
    forward()
    for bad in ({}, {"cat": "B", "nothing": 1}):
        try:
            dft_fn(**bad)
        except TypeError:
            continue
        raise AssertionError(bad)
    log.finalize()
    print("done")


main()
