# SPDX-License-Identifier: MIT
"""What PyTorch 2 brought, part by part: prints what came out, which has to be the same with hooks and without."""

import contextlib
import copy
import io
import os
import pickle
import sys

import fathom
import torch
import torch._dynamo.utils as dynamo
from torch.utils.checkpoint import checkpoint

STEPS = 3


class Net(torch.nn.Module):
    def __init__(self, breaks=False):
        super().__init__()
        self.a, self.b, self.breaks = torch.nn.Linear(8, 8), torch.nn.Linear(8, 1), breaks

    def forward(self, x):
        x = self.a(x)
        if self.breaks:
            torch._dynamo.graph_break()
        return self.b(torch.relu(x))


def train(model, optimizer=None):
    optimizer = optimizer or torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = model(X).sum()
        loss.backward()
        optimizer.step()
    return loss.item()


@contextlib.contextmanager
def part(name):
    torch._dynamo.reset()
    dynamo.counters.clear()
    with fathom.region(f"part {name}"):
        yield
    broken = sum(dynamo.counters["graph_break"].values())
    print(name, "graphs", dynamo.counters["stats"]["unique_graphs"], "breaks", broken, flush=True)


torch.set_num_threads(1)
torch.manual_seed(0)
X = torch.ones(4, 8)

with part("compiled"):
    compiled = torch.compile(Net(), fullgraph=True, backend="aot_eager")
    print(train(compiled), list(compiled.state_dict()))
with part("broken"):
    print(train(torch.compile(Net(True), backend="eager")))
with part("step"):
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    step = torch.compile(lambda: optimizer.step(), backend="eager")
    for _ in range(STEPS):
        model(X).sum().backward()
        step()
with part("function"):
    model = Net()
    function = torch.compile(lambda x: model(model.a(x)), backend="eager", fullgraph=True)
    for _ in range(STEPS):
        function(X)
with part("in place"):
    model = Net()
    model.compile(backend="eager")
    print(train(model))
with part("checkpointed"):
    model = Net()
    checkpoint(model, X, use_reentrant=False).sum().backward()
    checkpoint(model, X.clone().requires_grad_(), use_reentrant=True).sum().backward()
with part("amp"):
    scaler, optimizer = torch.amp.GradScaler("cpu"), torch.optim.SGD(model.parameters(), lr=0.1)
    with torch.autocast("cpu"):
        loss = model(X).sum()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
with part("inference"), torch.inference_mode():
    for _ in torch.utils.data.DataLoader(range(4)):
        model(X)
with part("exported"):
    torch.export.export(Net(), (X,)).module()(X)
    torch.jit.script(Net())(X)
    torch.fx.symbolic_trace(Net())(X)
with part("copies"):
    file = io.BytesIO()
    torch.save(model.state_dict(), file)
    file.seek(0)
    torch.load(file, weights_only=True)
    file = io.BytesIO()
    torch.save(model, file)
    file.seek(0)
    try:
        torch.load(file)
    except pickle.UnpicklingError as error:
        print(type(error).__name__)
    print(sorted(vars(copy.deepcopy(model))) == sorted(vars(model)))
with part("distributed"):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=sys.argv[1])
    torch.distributed.init_process_group("gloo", rank=0, world_size=1)
    print(train(torch.nn.parallel.DistributedDataParallel(Net())))
    torch.distributed.destroy_process_group()
with part("functional"):
    torch.func.functional_call(model, dict(model.named_parameters()), (X,))
