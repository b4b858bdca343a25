# SPDX-License-Identifier: MIT
"""Trainings on a GPU whose phases can be counted beforehand: prints what came out, bit by bit, and writes down what a
recording has to hold. bench/gpu/torch2.sh runs it bare and under fathom.torch.

usage: torch2.py KIND ORACLE.json    KIND is loader, checkpointed, amp, compile, overhead or graph
"""

import json
import sys
from collections import Counter
from pathlib import Path

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

ITEMS, BATCH, EPOCHS, WORKERS, STEPS = 256, 32, 3, 2, 12


class Numbers(torch.utils.data.Dataset):
    def __len__(self) -> int:
        return ITEMS

    def __getitem__(self, at: int) -> torch.Tensor:
        return torch.full((512,), float(at)) / ITEMS


class Net(nn.Module):
    def __init__(self, again: bool) -> None:
        super().__init__()
        self.first, self.last = nn.Sequential(nn.Linear(512, 512), nn.ReLU()), nn.Linear(512, 10)
        self.again = again  # computes its first layers once more in the backward pass

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        middle = checkpoint(self.first, x, use_reentrant=False) if self.again else self.first(x)
        return self.last(middle)


def loader(model: nn.Module, optimizer: torch.optim.Optimizer) -> Counter[str]:
    batches = torch.utils.data.DataLoader(Numbers(), BATCH, num_workers=WORKERS, pin_memory=True)
    for _ in range(EPOCHS):
        for batch in batches:
            one_step(model, optimizer, batch.cuda(non_blocking=True))
    steps = EPOCHS * ITEMS // BATCH
    phases = {"epoch": EPOCHS, "start": EPOCHS, "step": steps, "fetch": steps + EPOCHS, "batch": steps}
    return Counter(phases) + of_steps(steps)


def one_step(model: nn.Module, optimizer: torch.optim.Optimizer, batch: torch.Tensor) -> None:
    optimizer.zero_grad(set_to_none=True)
    model(batch).square().mean().backward()
    optimizer.step()


def of_steps(steps: int) -> Counter[str]:
    return Counter({"forward": steps, "backward": steps, "optimizer": steps})


def steps_of(model: nn.Module, optimizer: torch.optim.Optimizer) -> Counter[str]:
    for _ in range(STEPS):
        one_step(model, optimizer, torch.ones(BATCH, 512, device="cuda"))
    return of_steps(STEPS)


def amp(model: nn.Module, optimizer: torch.optim.Optimizer) -> Counter[str]:
    scaler = torch.amp.GradScaler("cuda")
    for _ in range(STEPS):
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cuda", dtype=torch.float16):
            loss = model(torch.ones(BATCH, 512, device="cuda")).square().mean()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
    return of_steps(STEPS)


def graph(model: nn.Module, optimizer: torch.optim.Optimizer) -> Counter[str]:
    """A captured graph runs what it captured without a call of a module: one forward pass for all replays."""
    told = steps_of(model, optimizer)
    still = torch.ones(BATCH, 512, device="cuda")
    captured = torch.cuda.CUDAGraph()
    with torch.cuda.graph(captured):
        model(still)
    for _ in range(STEPS):
        captured.replay()
    return told + Counter({"forward": 1})


def main(kind: str, oracle: str) -> None:
    torch.manual_seed(1)
    torch.use_deterministic_algorithms(mode=True)
    model: nn.Module = Net(kind == "checkpointed").cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    if kind in ("compile", "overhead"):
        model = torch.compile(model, mode="reduce-overhead" if kind == "overhead" else "default")
    run = {"loader": loader, "amp": amp, "graph": graph}.get(kind, steps_of)
    told = run(model, optimizer)
    torch.cuda.synchronize()
    Path(oracle).write_text(json.dumps({"torch": torch.__version__, "phases": told}))
    print(kind, [float(parameter.double().sum()).hex() for parameter in model.parameters()])


if __name__ == "__main__":
    main(*sys.argv[1:])
