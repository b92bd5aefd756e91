#!/usr/bin/env python3
"""Checks record_trace.py: when frees fire, and small models against real CPU tensors."""

import argparse
import contextlib
import difflib

import torch
import torch.nn.functional as F
from torch import nn

from torch._subclasses.fake_tensor import FakeTensorMode

from recorder import inference, training
from recorder.recorder import Recorder, cuda_context_for_backward

SMALL = argparse.Namespace(
    layers=3, width=256, heads=4, cache_heads=2, inner_width=576, vocabulary=1009,
    dropout=0.0, length=64,
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
    training.flash_attention = inference.flash_attention = plain_attention
    check_against_cpu("training", build_training)
    nn.RMSNorm = nn.LayerNorm  # RMSNorm is one operation on CUDA and several on the CPU.
    check_against_cpu("inference", build_inference)


if __name__ == "__main__":
    main()
