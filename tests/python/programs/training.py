# SPDX-License-Identifier: MIT
"""A small training: prints what it has learned, bit by bit. usage: training.py WORKERS [fork|spawn] [EPOCHS]"""

import hashlib
import sys
import tempfile
from pathlib import Path

import torch

ITEMS, BATCH = 40, 4


class Numbers(torch.utils.data.Dataset):
    def __len__(self):
        return ITEMS

    def __getitem__(self, at):
        x = torch.full((8,), float(at)) / ITEMS
        return x, x.sum().reshape(1)


def main(workers, how, epochs):
    torch.manual_seed(1)
    torch.set_num_threads(1)
    model = torch.nn.Sequential(torch.nn.Linear(8, 4), torch.nn.ReLU(), torch.nn.Linear(4, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2)
    loss_of = torch.nn.MSELoss()
    context = how if workers else None
    loader = torch.utils.data.DataLoader(
        Numbers(), BATCH, shuffle=True, num_workers=workers, multiprocessing_context=context
    )
    for _ in range(epochs):
        for x, y in loader:
            optimizer.zero_grad()
            loss = loss_of(model(x), y)
            loss.backward()
            optimizer.step()
        scheduler.step()
        with torch.no_grad():
            for x, y in torch.utils.data.DataLoader(Numbers(), BATCH):
                loss_of(model(x), y)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.pt"
        torch.save(model, path)
        digest = hashlib.sha256(
            b"".join(p.detach().numpy().tobytes() for p in torch.load(path, weights_only=False).parameters())
        )
        whole = torch.load(path, weights_only=False)
        file = hashlib.sha256(path.read_bytes()).hexdigest()
    print(digest.hexdigest(), file, type(loader).__iter__.__qualname__, sorted(vars(whole)), pickled(torch.save))


def pickled(function):
    import pickle

    return pickle.loads(pickle.dumps(function)) is function


if __name__ == "__main__":
    main(int(sys.argv[1]), *(sys.argv[2:3] or ["fork"]), int((sys.argv[3:4] or ["2"])[0]))
