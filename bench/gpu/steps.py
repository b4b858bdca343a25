# SPDX-License-Identifier: MIT
"""Training steps on a GPU, for counting: what torch.profiler saw is written to a file, and marks stand around the same
steps as files that are opened, so that a recording can be asked about them alone.

usage: steps.py KIND COUNTS.json    KIND is mlp, vit, graph, compile or loader
STEPS_PROFILER=no does without torch.profiler, which holds CUPTI.
"""

import collections
import contextlib
import json
import os
import sys
import tempfile
import time
from pathlib import Path

import torch
from torch import nn


def mark(name: str) -> None:
    with contextlib.suppress(OSError):
        os.close(os.open(f"/nonexistent-mark-{name}", os.O_RDONLY))


class Vision(nn.Module):
    """A small vision transformer: patches, an encoder, a class for each image."""

    def __init__(self) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, 192, 16, 16)
        layer = nn.TransformerEncoderLayer(192, 3, 768, batch_first=True, dropout=0.0)
        self.encoder = nn.TransformerEncoder(layer, 4)
        self.head = nn.Linear(192, 10)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        return self.head(self.encoder(self.patches(images).flatten(2).transpose(1, 2)).mean(1))


def model_of(kind: str) -> tuple[nn.Module, torch.Tensor]:
    if kind == "vit":
        return Vision(), torch.randn(32, 3, 224, 224).pin_memory()
    return nn.Sequential(nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10)), torch.randn(64, 512).pin_memory()


class Numbers(torch.utils.data.Dataset):
    def __len__(self) -> int:
        return 256

    def __getitem__(self, index: int) -> torch.Tensor:
        return torch.full((512,), float(index))


def marked(step: object, count: int) -> None:
    torch.cuda.synchronize()
    mark("begin")
    for _ in range(count):
        step()
    torch.cuda.synchronize()
    mark("end")


def profiled(step: object, count: int) -> dict[str, object]:
    if os.environ.get("STEPS_PROFILER") == "no":
        marked(step, count)
        return {}
    activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
    with torch.profiler.profile(activities=activities) as told:
        marked(step, count)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.json"
        told.export_chrome_trace(str(path))
        events = json.loads(path.read_text())["traceEvents"]
    names: collections.Counter[str] = collections.Counter()
    moved: collections.Counter[str] = collections.Counter()
    for event in events:
        kind = event.get("cat", "")
        if kind in ("cuda_runtime", "cuda_driver", "kernel", "gpu_memcpy", "gpu_memset"):
            names[f"{kind}:{event['name'] if kind.startswith('cuda') else ''}"] += 1
        if kind in ("gpu_memcpy", "gpu_memset"):
            moved[f"{kind}:{event['name']}"] += int(event["args"].get("bytes", 0))
    return {"counts": dict(names), "bytes": dict(moved)}


def main() -> None:
    kind, out = sys.argv[1], sys.argv[2]
    torch.manual_seed(1)
    device = torch.device("cuda")
    model, data = model_of(kind)
    model = model.to(device)
    if kind == "compile":
        model = torch.compile(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

    def step(batch: torch.Tensor = data) -> torch.Tensor:
        optimizer.zero_grad(set_to_none=True)
        loss = model(batch.to(device, non_blocking=True)).square().mean()
        loss.backward()
        optimizer.step()
        return loss

    for _ in range(5):
        loss = step()
    torch.cuda.synchronize()
    result: dict[str, object] = {"kind": kind, "torch": torch.__version__}
    if kind == "graph":
        static = data.to(device)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            model(static).square().mean()
        result |= profiled(graph.replay, 20)
    elif kind == "loader":
        loader = torch.utils.data.DataLoader(Numbers(), batch_size=64, num_workers=2)
        result |= profiled(lambda: [step(batch) for batch in loader], 1)
    else:
        result |= profiled(step, 10)
    parts = []
    for _ in range(10):
        began = time.perf_counter()
        for _ in range(20):
            loss = step()
        torch.cuda.synchronize()
        parts.append((time.perf_counter() - began) / 20 * 1e6)
    result |= {"step_us": sum(parts) / 10, "best_step_us": min(parts), "loss": float(loss.detach())}
    result["memory"] = {"allocated": torch.cuda.max_memory_allocated(), "reserved": torch.cuda.max_memory_reserved()}
    Path(out).write_text(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
