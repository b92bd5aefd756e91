"""The workload sharded-training: one of several processes that train a model together.

Three streams. Batches come on `copy`, a step ahead. The model works on `s0`. On `comm` gradients
are reduced in buckets while backward still runs, and each process gets its shard of the sums; with
these it updates its shard of the parameters, and all shards are gathered.

There are no other processes. An operation that reads and allocates as much stands for each
collective: a sum over the parts of a bucket for reduce-scatter, a repetition for all-gather.
"""

import random

import torch
from torch import nn

from recorder.kernels import Kernels
from recorder.training import TrainingModel, new_text, next_token_loss


class Bucket:
    """Parameters whose gradients are reduced together, and this process's shard of them."""

    def __init__(self, parameters, world):
        self.parameters = parameters
        self.sizes = [parameter.numel() for parameter in parameters]
        self.awaited = len(parameters)  # Gradients that backward has not made yet.
        assert sum(self.sizes) % world == 0
        self.shard = nn.Parameter(torch.zeros(sum(self.sizes) // world, device="cuda"))


def buckets_of(model, options):
    """Backward makes the gradients in about the reverse order of the parameters."""
    buckets, parameters, count = [], [], 0
    for parameter in reversed(list(model.parameters())):
        parameters.append(parameter)
        count += parameter.numel()
        if count >= options.bucket_elements:
            buckets.append(Bucket(parameters, options.world))
            parameters, count = [], 0
    if parameters:
        buckets.append(Bucket(parameters, options.world))
    return buckets


class Sharding:
    def __init__(self, recorder, model, options):
        self.recorder = recorder
        self.world = options.world
        self.buckets = buckets_of(model, options)
        self.shards = [bucket.shard for bucket in self.buckets]
        self.optimizer = torch.optim.AdamW(self.shards, lr=3e-4, foreach=True)
        for bucket in self.buckets:
            for parameter in bucket.parameters:
                parameter.register_post_accumulate_grad_hook(lambda _, b=bucket: self.made(b))

    def made(self, bucket):
        """Backward made one of the bucket's gradients."""
        bucket.awaited -= 1
        if bucket.awaited == 0:
            bucket.awaited = len(bucket.parameters)
            self.reduce(bucket)

    def reduce(self, bucket):
        self.recorder.wait_stream("comm", "s0")
        with self.recorder.on_stream("comm"):
            gradients = torch.cat([p.grad.flatten() for p in bucket.parameters])
            bucket.shard.grad = gradients.view(self.world, -1).sum(0)
        for parameter in bucket.parameters:
            self.recorder.record_stream(parameter.grad, "comm")
            parameter.grad = None

    def update(self):
        self.recorder.wait_stream("s0", "comm")
        nn.utils.clip_grad_norm_(self.shards, 1.0, foreach=True)
        self.optimizer.step()
        for shard in self.shards:
            self.recorder.record_stream(shard.grad, "s0")
        self.optimizer.zero_grad(set_to_none=True)
        self.gather()

    @torch.no_grad()
    def gather(self):
        self.recorder.wait_stream("comm", "s0")
        with self.recorder.on_stream("comm"):
            for bucket in self.buckets:
                parts = bucket.shard.repeat(self.world).split(bucket.sizes)
                for parameter, part in zip(bucket.parameters, parts):
                    parameter.copy_(part.view(parameter.shape))
        self.recorder.wait_stream("s0", "comm")

    def state(self):
        return [t for entry in self.optimizer.state.values() for t in entry.values()]


class Batches:
    """The next batch is on its way while the model works on this one."""

    def __init__(self, recorder, options):
        self.recorder = recorder
        self.options = options
        self.chance = random.Random(options.seed)
        self.start()

    def start(self):
        options = self.options
        length = 8 * self.chance.randint(options.length // 32, options.length // 8)
        batch = max(1, options.batch_tokens // length)
        with self.recorder.on_stream("copy"):
            self.coming = new_text(batch, length, options.vocabulary)

    def take(self):
        text = self.coming
        self.recorder.wait_stream("s0", "copy")
        self.recorder.record_stream(text, "s0")
        self.start()
        return text


def sharded_training(recorder, options):
    recorder.kernels = Kernels()
    with torch.device("cuda"):
        model = TrainingModel(options)
    sharding = Sharding(recorder, model, options)
    batches = Batches(recorder, options)
    for step in range(options.steps):
        loss = next_token_loss(recorder, model, batches.take())
        loss.backward()
        sharding.update()
        if step % options.steps_between_logs == 0:
            loss.item()
        del loss
        held = [*model.parameters(), *sharding.shards, *sharding.state(), batches.coming]
        recorder.check_live(held)
        del held
    recorder.kept_alive = (model, sharding, batches)
