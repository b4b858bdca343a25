# SPDX-License-Identifier: MIT
"""A training step on a GPU that tells its ranges by NVTX, for counting.

usage: annotated.py steps|cost|profiled|busy [N]
steps     N steps, with ranges, marks and emit_nvtx; prints how many ranges of which name were told
profiled  the same without, under torch.profiler; prints what it counted of the run-time library's copies
cost      prints ns of a push and pop
busy      multiplies matrices for N seconds
"""

import collections
import json
import sys
import time

import torch
from torch import nn


def copies_of(step: object, count: int) -> dict[str, int]:
    names: collections.Counter[str] = collections.Counter()
    activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
    with torch.profiler.profile(activities=activities) as told:
        for _ in range(count):
            step()
        torch.cuda.synchronize()
    for event in told.events():
        if event.name in ("cudaMemcpyAsync", "cudaMemcpy"):
            names[event.name] += 1
    return dict(names)


def cost() -> None:
    nvtx = torch.cuda.nvtx
    best = 1e9
    for _ in range(7):
        begin = time.perf_counter()
        for _ in range(20000):
            nvtx.range_push("cost")
            nvtx.range_pop()
        best = min(best, (time.perf_counter() - begin) / 20000 * 1e9)
    print(json.dumps({"push and pop, ns": round(best)}))


def busy(seconds: float) -> None:
    matrix = torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for _ in range(10):
            matrix = torch.nn.functional.normalize(matrix @ matrix)
        matrix.cpu()
        torch.cuda.synchronize()


def main() -> None:
    what, number = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 10
    if what == "cost":
        return cost()
    if what == "busy":
        return busy(number)
    nvtx = torch.cuda.nvtx
    model = nn.Sequential(nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    data = torch.randn(64, 512).pin_memory()

    def step() -> None:
        optimizer.zero_grad()
        loss = model(data.to("cuda", non_blocking=True)).square().mean()
        loss.backward()
        optimizer.step()
        loss.item()

    if what == "profiled":
        step()
        print(json.dumps(copies_of(step, number)))
        return None
    started = nvtx.range_start("all")
    for n in range(number):
        nvtx.range_push("step")
        nvtx.range_push(f"number {n}")
        step()
        nvtx.range_pop()
        nvtx.mark("done")
        nvtx.range_pop()
    nvtx.range_end(started)
    with torch.autograd.profiler.emit_nvtx():
        step()
    torch.cuda.synchronize()
    print(json.dumps({"step": number, "number": number, "done": number, "all": 1}))
    return None


main()
