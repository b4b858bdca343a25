# SPDX-License-Identifier: MIT
"""Hooks of chosen objects, what raises inside them, and their removal."""

import pickle

import fathom
import torch


class Odd(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(1, 1)

    def forward(self, x):
        if x is None:
            raise ValueError("nothing")
        return self.inner(x)


class Broken(torch.utils.data.Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, at):
        if at == 3:
            raise KeyError(at)
        return torch.ones(1)


def raises(kind, call):
    try:
        call()
    except kind as error:
        return type(error).__name__
    raise AssertionError(f"no {kind}")


model, other = Odd(), Odd()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)
loader, unwatched = torch.utils.data.DataLoader(Broken()), torch.utils.data.DataLoader([1.0, 2.0])
plain = torch.nn.Module.__call__, torch.save, torch.load, torch.autograd.backward, torch.optim.Optimizer.__init__

watch = fathom.torch.watch(model, [optimizer], loader)
print(raises(fathom.Error, lambda: fathom.torch.watch(loader=[[1]])))
loss = model(torch.ones(1)).sum()
loss.backward()
optimizer.step()
optimizer.step()
scheduler.step()
print(raises(ValueError, lambda: model(None)), raises(RuntimeError, loss.backward))
other(torch.ones(1))
print(raises(KeyError, lambda: list(loader)))
for _ in loader:
    break
list(unwatched)
print(pickle.loads(pickle.dumps(torch.save)) is torch.save, sorted(vars(model)) == sorted(vars(other)))
watch.remove()
watch.remove()
print(
    plain
    == (torch.nn.Module.__call__, torch.save, torch.load, torch.autograd.backward, torch.optim.Optimizer.__init__),
)
model(torch.ones(1)).sum().backward()
optimizer.step()
list(unwatched)
