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

Most traces are of one stream, s0, and have only allocs and frees. A workload with side streams
says which stream its operations run on, where one stream waits for another (`order`) and which
tensors are used on a stream that is not theirs (`use`: record_stream), as the same program would
on a GPU. Its trace also has the kernels (`launch`), what each reads and writes, how long it takes,
the passing of time and the host's waits, so that the simulated GPU can judge whether memory was
given out too early.

Where fake tensors would differ from real ones, and what the script does about it:
* Backward adds up the gradients of a tensor with several uses. For real tensors PyTorch adds
  in place when nobody else holds the first gradient; under a dispatch mode it never does. The
  recorder tests the same condition and then adds in place.
* Backward of indexing and of topk writes into zeros that it has just made; under a dispatch mode
  it makes one more tensor. The recorder writes into the zeros.
* Fake tensors have no values. Reading one on the host (`.item()`) gives 1. Where sizes depend on
  values (tokens for each expert, the end of an answer) a seeded generator decides.
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
* other processes: one operation stands for each collective, and reads and allocates as much;
* measured times: a kernel's is that of the bytes of the tensors that it touches, at 2 TB/s.

Needs:  pip install torch==2.10.0 numpy
"""

import argparse
import gzip
import importlib
import textwrap
from collections import Counter
from pathlib import Path

from recorder.needs import TESTED_TORCH, fail, need_torch

MEMORY = "80GiB"
GIB = 1 << 30

WORKLOADS = {  # By name: its module in recorder/, what it is, its options with their defaults.
    "transformer-training": (
        "training",
        "Training of a decoder: forward, loss, backward, gradient clipping, AdamW, with "
        "changing batch sizes and lengths and an evaluation every 5 steps.",
        dict(
            layers=8, width=768, heads=12, vocabulary=50257, dropout=0.1, steps=32,
            length=1024, batch_tokens=16384, seed=1,
        ),
    ),
    "kv-cache-inference": (
        "inference",
        "Text generation with a cache of keys and values that grows by concatenation: each "
        "request is prefilled, then the running requests decode one token each in turn.",
        dict(
            layers=6, width=4096, heads=32, cache_heads=8, inner_width=14336,
            vocabulary=32000, requests=8, running=3, batch=32, length=4096, new_tokens=24,
            seed=1,
        ),
    ),
    "serving": (
        "serving",
        "Continuous batching: requests arrive at any time, join the running batch with their "
        "prompts, get one token a step with all others, and leave. Prompts and answers are of "
        "heavy-tailed lengths; caches of keys and values are made anew when they are full.",
        dict(
            layers=3, width=4096, heads=32, cache_heads=8, inner_width=14336, vocabulary=32000,
            requests=46, running=24, steps_between=1.0, prompt=4096, answer=256,
            batch_tokens=8192, cache_tokens=40000, cache_room=64, seed=1,
        ),
    ),
    "convolution-training": (
        "convolution",
        "Training of a residual network on images of changing sizes: forward, loss, backward, "
        "SGD with momentum, and an evaluation every 5 steps.",
        dict(
            depths="3,4,6,3", channels=64, classes=1000, size=320, batch_pixels=3211264, steps=22,
            seed=1,
        ),
    ),
    "mixture-of-experts": (
        "experts",
        "Training of a decoder whose inner layers are experts: each token goes to some of them, "
        "and how many tokens each gets changes from layer to layer and from step to step.",
        dict(
            layers=4, width=768, heads=12, vocabulary=32000, dropout=0.1, experts=8, chosen=2,
            inner_width=2048, steps=12, length=1024, batch_tokens=16384, seed=1,
        ),
    ),
    "sharded-training": (
        "sharded",
        "Training of a decoder in one of several processes: batches come on a stream of their "
        "own, gradients are reduced in buckets and parameters gathered on another.",
        dict(
            layers=6, width=768, heads=12, vocabulary=32000, dropout=0.1, world=8, steps=28,
            bucket_elements=7000000, length=1024, batch_tokens=16384, steps_between_logs=4, seed=1,
        ),
    ),
}


def record(workload, options):
    """Torch is loaded no sooner than here."""
    module = importlib.import_module("recorder." + WORKLOADS[workload][0])
    run = getattr(module, workload.replace("-", "_"))
    return importlib.import_module("recorder.recorder").record(run, options)


def comment(text):
    return textwrap.wrap(text, 99, initial_indent="# ", subsequent_indent="#   ")


def program_text(workload, options, recorder, torch_version):
    parameters = " ".join(f"{name}={value}" for name, value in sorted(vars(options).items()))
    peak_gib = recorder.peak_bytes / GIB
    counts = Counter(line.split(" ", 1)[0] for line in recorder.lines)
    allocs, frees = counts.pop("alloc"), counts.pop("free")
    besides = ", ".join(f"{count} {word}" for word, count in sorted(counts.items()))
    header = [
        f"# {workload}: allocation requests of a PyTorch model, recorded with fake tensors.",
        *comment(WORKLOADS[workload][1]),
        *comment(f"Parameters: {parameters}"),
        f"# torch {torch_version}",
        f"# Requests: {allocs + frees} ({allocs} allocs, {frees} frees)",
        *([f"# Besides: {besides}"] if besides else []),
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
    if not Path(options.output).parent.is_dir():
        parser.error(f"there is no folder for {options.output}")
    workload, output = options.workload, options.output
    del options.workload, options.output
    return workload, output, options


def main():
    workload, output, options = parse_command_line()
    version = need_torch().__version__
    if version.split("+")[0] != TESTED_TORCH:
        fail(f"needs torch {TESTED_TORCH}, not {version}: the script relies on its internals")
    recorder = record(workload, options)
    write_gzip(output, program_text(workload, options, recorder, version))
    print(f"{len(recorder.lines)} statements, peak {recorder.peak_bytes / GIB:.2f} GiB")


if __name__ == "__main__":
    main()
