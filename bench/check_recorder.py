#!/usr/bin/env python3
"""Checks record_trace.py: when frees fire, and small models against real CPU tensors.

Exits with 0 if all is correct; with 2 for wrong usage, or where there is no torch.
"""

import argparse
import contextlib
import difflib
import random

from recorder.needs import need_torch

if __name__ == "__main__":  # Before torch is loaded, which takes long, or is not here.
    argparse.ArgumentParser(description=__doc__).parse_args()
    need_torch()

# pylint: disable=wrong-import-position
import torch
import torch.nn.functional as F
from torch import nn

from torch._subclasses.fake_tensor import FakeTensorMode

from recorder import convolution, experts, inference, serving, training
from recorder.kernels import Kernels
from recorder.recorder import Recorder, cuda_context_for_backward
# pylint: enable=wrong-import-position

SMALL = argparse.Namespace(
    layers=3, width=256, heads=4, cache_heads=2, inner_width=576, vocabulary=1009,
    dropout=0.0, length=64, experts=5, chosen=2, seed=1, depths="2,1", channels=32, classes=10,
    prompt=64, answer=32, cache_room=16,
)


def recording(recorder):
    context = contextlib.ExitStack()
    context.enter_context(cuda_context_for_backward())
    context.enter_context(FakeTensorMode())
    context.enter_context(recorder)
    recorder.calibrate()
    return context


def check_lifetimes():
    recorder = Recorder()
    with recording(recorder):
        x = torch.empty(256, device="cuda")
        view = x[3:].view(-1)
        x.add_(1)
        assert recorder.lines == ["alloc t0 1024 s0"], recorder.lines
        del x
        assert len(recorder.lines) == 1, "a view keeps the storage alive"
        del view
        assert recorder.lines[1:] == ["free t0"]
        torch.empty(0, device="cuda")
        torch.empty(9, device="cpu")
        assert len(recorder.lines) == 2

        recorder.start()
        weight = torch.empty(8, 8, device="cuda", requires_grad=True)  # t0, 256 bytes
        out = (weight.exp() * 2).exp()  # t1 and t2 are the results of exp; the product dies.
        assert recorder.live_bytes == 3 * 256
        out.sum().backward()  # Backward frees what exp saved, though `out` itself lives.
        assert recorder.live_bytes == 3 * 256, "weight, out and weight.grad"
        weight.grad = None
        del out
        assert recorder.live_bytes == 256
        del weight
        assert not recorder.live
    print("lifetimes: correct")


def check_streams_and_kernels():
    recorder = Recorder()
    with recording(recorder):
        recorder.kernels = Kernels()
        with recorder.on_stream("side"):
            x = torch.empty(1_000_000, device="cuda")  # It only allocates.
            x.zero_()
        recorder.wait_stream("s0", "side")
        recorder.record_stream(x[5:], "s0")
        y = x.view(1000, 1000)[0].exp()  # No kernel makes a view.
        y.add_(x[:1000])
        torch.add(y, 1, out=x[:1000])
        torch._foreach_mul_([y, x], 2.0)
        y.sum().item()
        del x
    assert recorder.lines == [
        "alloc t0 4000000 side",
        "launch side t0 4",
        "order side s0",
        "use t0 s0",
        "alloc t1 4000 s0",
        "launch s0 t1,t0:r 4",
        "launch s0 t1,t0:r 4",
        "launch s0 t0,t1:r 4",
        "launch s0 t1,t0 4",
        "alloc t2 4 s0",
        "launch s0 t2,t1:r 2",
        "sync s0",
        "free t2",
        "free t0",
    ], recorder.lines
    print("streams and kernels: correct")


def in_place_sums(keep):
    """How many sums happen in place when `keep` takes hold of the gradient of the sum."""
    recorder = Recorder()
    kept = []
    with recording(recorder):
        weight = torch.empty(8, 8, device="cuda", requires_grad=True)
        hidden = weight * 2
        total = hidden + (hidden @ weight.detach()).relu()
        total.register_hook(lambda grad: kept.append(keep(grad)))
        total.sin().sum().backward()
        del kept[:]
        return recorder.in_place_sums


def check_in_place_sums():
    assert in_place_sums(lambda grad: None) == 1
    assert in_place_sums(lambda grad: grad) == 0, "somebody else holds the gradient"
    assert in_place_sums(lambda grad: grad.view(-1)) == 0, "somebody else holds its storage"
    print("in-place sums: correct")


def plain_attention(query, key, value, dropout=0.0, causal=False):
    """Stands in for flash attention, which CPU and CUDA do by different operations."""
    scores = (query @ key.transpose(-1, -2)) * 0.125
    return scores.softmax(-1) @ value


def build_training(device):
    with torch.device(device):
        model = training.TrainingModel(SMALL)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, foreach=True)

    def step():
        text = torch.randint(1009, (3, 65), device=device)
        logits = model(text[:, :-1].contiguous())
        F.cross_entropy(logits.flatten(0, 1), text[:, 1:].flatten()).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0, foreach=True)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    return step


def build_inference(device):
    with torch.device(device):
        model = inference.InferenceModel(SMALL)
    text = torch.randint(1009, (3, 20), device=device)

    @torch.no_grad()
    def step():
        cache = []
        logits = model(text, cache)
        for _ in range(3):
            logits = model(logits.argmax(dim=-1, keepdim=True), cache)

    return step


def build_experts(device):
    with torch.device(device):
        model = experts.ExpertModel(SMALL)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, foreach=True)

    def step():
        text = torch.randint(1009, (3, 65), device=device)
        logits = model(text[:, :-1].contiguous())
        F.cross_entropy(logits.flatten(0, 1), text[:, 1:].flatten()).backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    return step


def build_convolution(device):
    with torch.device(device):
        model = convolution.ConvolutionModel(SMALL)
    optimizer = convolution.new_optimizer(model)

    def step():
        images = torch.rand(4, 3, 64, 64, device=device)
        labels = torch.randint(10, (4,), device=device)
        F.cross_entropy(model(images), labels).backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    return step


def build_serving(device):
    with torch.device(device):
        model = serving.ServingModel(SMALL)
    chance = random.Random(1)

    @torch.no_grad()
    def step():
        running = []
        for _ in range(4):
            running.append(serving.ServedRequest(chance, SMALL))
            serving.serve(model, running)

    return step


def plain_packed_attention(query, keys, values, batch):
    """Stands in for flash attention on packed requests."""
    parts = zip(*(x.split(n) for x, n in (
        (query, batch.new_lengths), (keys, batch.lengths), (values, batch.lengths))))
    return torch.cat([
        plain_attention(*(x.repeat_interleave(query.shape[1] // x.shape[1], 1).transpose(0, 1)
                          for x in part)).transpose(0, 1)
        for part in parts
    ])


def fake_cuda_changes(build):
    """Bytes of each request of the second step, frees negative."""
    recorder = Recorder()
    with recording(recorder):
        step = build("cuda")
        step()
        before = len(recorder.lines)
        step()
        changes, sizes = [], {}
        for line in recorder.lines:
            word, name, *rest = line.split()
            if rest:
                sizes[name] = int(rest[0])
            changes.append(sizes[name] if rest else -sizes[name])
        return changes[before:]


def real_cpu_changes(build):
    torch.set_num_threads(1)
    step = build("cpu")
    step()
    cpu = torch.profiler.ProfilerActivity.CPU
    with torch.profiler.profile(activities=[cpu], profile_memory=True) as profile:
        step()
    events = profile.profiler.kineto_results.events()
    return [event.nbytes() for event in events if event.name() == "[memory]"]


def check_against_cpu(title, build):
    """The real run may do more only by allocations that it frees again, inside a kernel.

    Sizes up to 8 bytes are left out: on the CPU they are mostly scalars of the host code.
    """
    fake = [change for change in fake_cuda_changes(build) if abs(change) > 8]
    real = [change for change in real_cpu_changes(build) if abs(change) > 8]
    matcher = difflib.SequenceMatcher(None, fake, real, autojunk=False)
    extra = []
    for tag, fake1, fake2, real1, real2 in matcher.get_opcodes():
        if tag == "equal":
            continue
        more = real[real1:real2]
        assert tag == "insert", f"{title}: {tag} {fake[fake1:fake2]} {more}"
        extra += more
    assert sum(extra) == 0, f"{title}: {extra}"
    print(f"{title}: {len(fake)} changes on fake CUDA, all the same and in the same order on "
          f"the CPU, which has {len(extra)} more: {extra}")


def main():
    torch.autograd.set_multithreading_enabled(False)
    check_lifetimes()
    check_in_place_sums()
    check_streams_and_kernels()
    training.flash_attention = inference.flash_attention = plain_attention
    serving.packed_attention = plain_packed_attention
    check_against_cpu("training", build_training)
    check_against_cpu("mixture of experts", build_experts)
    check_against_cpu("convolutions", build_convolution)
    nn.RMSNorm = nn.LayerNorm  # RMSNorm is one operation on CUDA and several on the CPU.
    check_against_cpu("inference", build_inference)
    check_against_cpu("serving", build_serving)


if __name__ == "__main__":
    main()
