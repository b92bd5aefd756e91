#!/usr/bin/env python3
"""Ten steps of training with PyTorch's wheel on the simulated CUDA, written down step by step.

The allocator is PyTorch's own or Cairn. What came of it is OUT_FOLDER/ALLOCATOR.json, and the
requests are ALLOCATOR.program. The model is of operations that need no cuBLAS; values are garbage.
The loop is an application's: Adam, clipped gradients, batches of several sizes that a copy stream
fetches ahead, a step whose batch is too large and is caught.
"""

import argparse
import json
import os
import pathlib
import sys

MEMORY = 288 * 2**20
os.environ.update(CAIRN_SIM_MEMORY=str(MEMORY), CAIRN_SIM_JUDGE="quiet",
                  CAIRN_SIM_QUERY_TICKS="0")

import torch  # noqa: E402  (The machine is as the environment says when torch first uses it.)
from torch.nn import functional  # noqa: E402

import cairn  # noqa: E402
import judge  # noqa: E402

STEPS, WIDTH, LAYERS, ROWS, TOO_LARGE_AT = 10, 512, 4, 2048, 6


class Block(torch.nn.Module):
    """A residual block, elementwise where a model has matrices."""

    def __init__(self):
        super().__init__()
        self.norm = torch.nn.LayerNorm(WIDTH)
        self.scale = torch.nn.Parameter(torch.ones(64, WIDTH))
        self.shift = torch.nn.Parameter(torch.zeros(WIDTH))

    def forward(self, x):
        y = functional.gelu(self.norm(x).view(-1, 64, WIDTH) * self.scale + self.shift)
        return x + functional.dropout(y.view_as(x), 0.1)


class Batches:
    """Batches that a stream of its own copies to the device, one ahead."""

    def __init__(self, record_stream: bool):
        self.copies = torch.cuda.Stream()
        self.record_stream = record_stream
        self.ahead = None

    def fetch(self, step: int) -> None:
        rows = ROWS + 512 * (step % 4 == 3) if step != TOO_LARGE_AT else 16 * ROWS
        source = torch.empty(rows, WIDTH, pin_memory=True)
        with torch.cuda.stream(self.copies):
            self.ahead = source.to("cuda", non_blocking=True)

    def take(self) -> torch.Tensor:
        batch, self.ahead = self.ahead, None
        torch.cuda.current_stream().wait_stream(self.copies)
        if self.record_stream:
            batch.record_stream(torch.cuda.current_stream())
        return batch


def train_step(model, optimizer, batch, step: int) -> None:
    hidden = batch
    for block in model:
        hidden = block(hidden)
    loss = (hidden - batch).pow(2).mean()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    if step % 2 == 1:  # What reads the loss waits for the GPU; other steps run ahead of it.
        loss.item()


def train(stats, record_stream: bool) -> list[dict]:
    model = torch.nn.Sequential(*(Block() for _ in range(LAYERS))).cuda()
    optimizer = torch.optim.Adam(model.parameters())
    batches = Batches(record_stream)
    batches.fetch(0)
    steps = []
    for step in range(STEPS):
        batch = batches.take()
        caught = ""
        try:
            if step + 1 != TOO_LARGE_AT:
                batches.fetch(step + 1)
            train_step(model, optimizer, batch, step)
            if step + 1 == TOO_LARGE_AT:
                batches.fetch(step + 1)
        except RuntimeError as error:
            caught = f"{type(error).__name__}: {str(error).splitlines()[0]}"
        if caught:
            if "out of memory" not in caught:
                raise RuntimeError(caught)
            optimizer.zero_grad(set_to_none=True)
            batches.fetch(step + 1)
        del batch
        steps.append({"step": step, "caught": caught, **totals(stats())})
    return steps


def totals(stats: dict) -> dict:
    names = {f"{kind}_{when}": f"{kind}_bytes.all.{when}" for kind in ("allocated", "reserved")
             for when in ("current", "peak")}
    found = {name: stats[key] for name, key in names.items()}
    for name in ("num_device_alloc", "num_device_free", "num_ooms", "num_alloc_retries"):
        found[name] = stats[name]
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("allocator", choices=["pytorch", "cairn"])
    parser.add_argument("out", type=pathlib.Path, metavar="OUT_FOLDER")
    parser.add_argument("--forget-record-stream", action="store_true",
                        help="of the batches that the copy stream fetched")
    args = parser.parse_args()
    name, out = args.allocator, args.out
    out.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(1)
    if name == "cairn":
        source = judge.JudgedCairn()
        source.use_in_pytorch()
        stats, snapshot = cairn.memory_stats, cairn.memory_snapshot
    else:
        source = judge.History()
        stats, snapshot = torch.cuda.memory_stats, torch.cuda.memory_snapshot
    with judge.Telling(source):
        steps = train(stats, record_stream=not args.forget_record_stream)
    source.poll()
    found = {"allocator": name, "torch": torch.__version__, "memory": MEMORY, "steps": steps,
             "violations": judge.violations(), "mistakes": judge.mistakes(), "map": snapshot()}
    source.write(str(out / f"{name}.program"), MEMORY)
    (out / f"{name}.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
