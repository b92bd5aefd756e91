#!/usr/bin/env python3
"""Records the allocation requests that a real PyTorch model makes, without a GPU.

The models below are ordinary torch.nn modules. PyTorch runs them operation by operation on
fake tensors: tensors with a size, a layout and the device "cuda", but with no data. So the
sizes and the lifetimes are the ones that PyTorch itself makes, and no GPU is needed.

How it records. A dispatch mode sees every operation that reaches a backend, in forward, in
backward and in the optimizer. A storage that it has not seen before is a new allocation of as
many bytes as the storage holds. Views and in-place operations bring no new storage, and
storages of 0 bytes are skipped. A weak reference to the storage reports its death, which is
the free. PyTorch counts references, so this happens at once, also for activations that
autograd keeps for backward. The garbage collector is off while recording; the script fails if
any tensor had to wait for it.

Where fake tensors would differ from real ones, and what the script does about it:
* Backward adds up the gradients of a tensor with several uses. For real tensors PyTorch adds
  in place when nobody else holds the first gradient; under a dispatch mode it never does. The
  recorder tests the same condition and then adds in place.
* Fake tensors have no values. Reading one on the host (`.item()`) gives 1. No size in the
  models depends on a value.
* torch.autocast("cuda") switches itself off without a GPU, so the script turns autocast on by
  the calls beneath it.
* The defaults that PyTorch picks for real CUDA tensors are asked for by name: the foreach form
  of AdamW and of gradient clipping, and the flash attention operation.
* Backward runs on the calling thread, and autocast's cached weights are freed oldest first (the
  real order depends on addresses), so that every run gives the same trace.

What the trace does not have:
* memory that an operation takes for itself while it runs: scratch space of sorts, reductions
  and random sampling, contiguous copies of its inputs, the float32 accumulator of flash
  attention's backward, and the like;
* workspaces of cuBLAS, cuBLASLt and cuDNN, and the CUDA context;
* memory that does not come from the caching allocator (pinned host memory, NCCL buffers);
* the order of the outputs within one operation: they are recorded in the order in which the
  operation returns them, and the kernel may create them in another order;
* more than one stream: all requests are on s0.

Needs:  pip install torch==2.10.0 numpy
"""

import argparse
import gc
import gzip
import sys
import textwrap

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from recorder.inference import kv_cache_inference
from recorder.recorder import Recorder, cuda_context_for_backward
from recorder.training import transformer_training

TESTED_TORCH = "2.10.0"
MEMORY = "80GiB"
GIB = 1 << 30

WORKLOADS = {
    "transformer-training": (
        transformer_training,
        "Training of a decoder: forward, loss, backward, gradient clipping, AdamW, with "
        "changing batch sizes and lengths and an evaluation every 5 steps.",
        dict(
            layers=8, width=768, heads=12, vocabulary=50257, dropout=0.1, steps=32,
            length=1024, batch_tokens=16384, seed=1,
        ),
    ),
    "kv-cache-inference": (
        kv_cache_inference,
        "Text generation with a cache of keys and values that grows by concatenation: each "
        "request is prefilled, then the running requests decode one token each in turn.",
        dict(
            layers=6, width=4096, heads=32, cache_heads=8, inner_width=14336,
            vocabulary=32000, requests=8, running=3, batch=32, length=4096, new_tokens=24,
            seed=1,
        ),
    ),
}


def record(workload, options):
    run = WORKLOADS[workload][0]
    recorder = Recorder()
    torch.autograd.set_multithreading_enabled(False)
    gc.collect()
    gc.disable()
    with cuda_context_for_backward(), FakeTensorMode(), recorder:
        recorder.calibrate()
        run(recorder, options)
        lines = len(recorder.lines)
        gc.collect()
        if len(recorder.lines) != lines:
            raise RuntimeError("some tensors lived on until the garbage collector ran")
    gc.enable()
    return recorder


def comment(text):
    return textwrap.wrap(text, 99, initial_indent="# ", subsequent_indent="#   ")


def program_text(workload, options, recorder):
    parameters = " ".join(f"{name}={value}" for name, value in sorted(vars(options).items()))
    peak_gib = recorder.peak_bytes / GIB
    allocs, frees = recorder.allocs, len(recorder.lines) - recorder.allocs
    header = [
        f"# {workload}: allocation requests of a PyTorch model, recorded with fake tensors.",
        *comment(WORKLOADS[workload][1]),
        *comment(f"Parameters: {parameters}"),
        f"# torch {torch.__version__}",
        f"# Requests: {allocs + frees} ({allocs} allocs, {frees} frees)",
        f"# Peak of live bytes: {recorder.peak_bytes} ({peak_gib:.2f} GiB)",
        f"# Live bytes at the end: {recorder.live_bytes}",
        f"gpu 0 memory={MEMORY}",
    ]
    return "\n".join(header + recorder.lines) + "\n"


def write_gzip(path, text):
    """Equal text gives equal bytes: no time and no file name in the gzip header."""
    with open(path, "wb") as file:
        with gzip.GzipFile("", "wb", 9, file, mtime=0) as packed:
            packed.write(text.encode())


def parse_command_line():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    workloads = parser.add_subparsers(dest="workload", required=True, metavar="WORKLOAD")
    for name, (_, summary, defaults) in WORKLOADS.items():
        workload = workloads.add_parser(name, help=summary, description=summary)
        workload.add_argument("-o", "--output", required=True, metavar="FILE.program.gz")
        for option, default in defaults.items():
            flag = "--" + option.replace("_", "-")
            workload.add_argument(
                flag, type=type(default), default=default, help="default: %(default)s"
            )
    options = parser.parse_args()
    workload, output = options.workload, options.output
    del options.workload, options.output
    return workload, output, options


def main():
    workload, output, options = parse_command_line()
    if torch.__version__.split("+")[0] != TESTED_TORCH:
        sys.exit(f"needs torch {TESTED_TORCH}: the script relies on some of its internals")
    recorder = record(workload, options)
    write_gzip(output, program_text(workload, options, recorder))
    print(f"{len(recorder.lines)} requests, peak {recorder.peak_bytes / GIB:.2f} GiB")


if __name__ == "__main__":
    main()
