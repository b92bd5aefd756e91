"""The workload serving."""

import random

import torch

from recorder.inference import InferenceBlock, InferenceModel, rotate

aten = torch.ops.aten


def packed_attention(query, keys, values, batch):
    """Flash attention on requests of several lengths, one behind the other without padding."""
    return aten._flash_attention_forward(
        query, keys, values, batch.query_ends, batch.key_ends, max(batch.new_lengths),
        max(batch.lengths), 0.0, True, False,
    )[0]


class Cache:
    """Keys and values of one request, for each layer a tensor with some room to grow."""

    def __init__(self, options):
        self.shape = (options.cache_heads, options.width // options.heads)
        self.room = options.cache_room
        self.layers = [None] * options.layers

    def append(self, layer, begin, key, value):
        end = begin + len(key)
        old = self.layers[layer]
        if old is None or old.shape[1] < end:
            capacity = -(-end // self.room) * self.room
            new = torch.empty(2, capacity, *self.shape, dtype=key.dtype, device=key.device)
            if old is not None:
                new[:, :begin].copy_(old[:, :begin])
            self.layers[layer] = new
        self.layers[layer][0, begin:end].copy_(key)
        self.layers[layer][1, begin:end].copy_(value)


class ServedRequest:
    def __init__(self, chance, options):
        """Most are short and some are long: both lengths are drawn from a Pareto distribution."""
        self.new_tokens = min(options.prompt, int(chance.paretovariate(0.9) * options.prompt / 64))
        self.answer = min(options.answer, int(chance.paretovariate(0.9) * options.answer / 16))
        self.length = 0  # What is in the cache.
        self.cache = Cache(options)


class Batch:
    """One step of all running requests: new ones bring their prompts, the others one token."""

    def __init__(self, requests, device):
        self.requests = requests
        self.new_lengths = [request.new_tokens for request in requests]
        self.lengths = [request.length + request.new_tokens for request in requests]
        places = [p for r in requests for p in range(r.length, r.length + r.new_tokens)]
        last_rows = [end - 1 for end in sums(self.new_lengths)[1:]]
        self.tokens = torch.tensor([0] * len(places)).to(device)
        self.places = torch.tensor(places).to(device)
        self.query_ends = torch.tensor(sums(self.new_lengths), dtype=torch.int32).to(device)
        self.key_ends = torch.tensor(sums(self.lengths), dtype=torch.int32).to(device)
        self.last_rows = torch.tensor(last_rows).to(device)

    def with_cache(self, layer, key, value):
        """Puts the new keys and values into the caches, and gives those of all tokens."""
        parts = zip(self.requests, key.split(self.new_lengths), value.split(self.new_lengths))
        for request, new_key, new_value in parts:
            request.cache.append(layer, request.length, new_key, new_value)
        caches = [request.cache.layers[layer] for request in self.requests]
        return tuple(
            torch.cat([cache[half, :n] for cache, n in zip(caches, self.lengths)])
            for half in (0, 1)
        )


def sums(lengths):
    ends = [0]
    for length in lengths:
        ends.append(ends[-1] + length)
    return ends


class ServingBlock(InferenceBlock):
    def split_heads(self, x):
        return x.view(len(x), -1, self.head_width)

    def attend(self, x, rotation, batch, layer):
        query = rotate(self.split_heads(self.query(x)), rotation)
        key = rotate(self.split_heads(self.key(x)), rotation)
        value = self.split_heads(self.value(x))
        keys, values = batch.with_cache(layer, key, value)
        return self.out(packed_attention(query, keys, values, batch).flatten(1))


class ServingModel(InferenceModel):
    """The model of kv-cache-inference, on tokens of all requests in one row."""

    def new_block(self, options):
        return ServingBlock(
            options.width, options.heads, options.cache_heads, options.inner_width
        )

    def forward(self, batch):
        angles = torch.outer(batch.places.float(), self.frequencies)
        angles = torch.cat([angles, angles], dim=-1).unsqueeze(1)
        x = self.tokens(batch.tokens)
        rotation = (angles.cos().to(x.dtype), angles.sin().to(x.dtype))
        for layer, block in enumerate(self.blocks):
            x = block(x, rotation, batch, layer)
        return self.head(self.norm(x[batch.last_rows]))


def serve(model, requests):
    """One token for each request, which the host gets."""
    logits = model(Batch(requests, model.frequencies.device))
    best, candidates = (logits.float() / 0.8).topk(50, dim=-1)
    choice = torch.multinomial(best.softmax(dim=-1), 1)
    candidates.gather(1, choice).to("cpu")
    for request in requests:
        request.length += request.new_tokens
        request.new_tokens = 1
        request.answer -= 1


class Arrivals:
    """The requests, and the step before which each arrives; steps between them are random."""

    def __init__(self, options):
        chance = random.Random(options.seed)
        self.options = options
        self.waiting = []
        step = 0.0
        for _ in range(options.requests):
            step += chance.expovariate(1.0 / options.steps_between)
            self.waiting.append((step, ServedRequest(chance, options)))

    def admit(self, step, running):
        """Those whose turn it is, as far as the batch and the cache have room for them."""
        options = self.options
        tokens = sum(request.new_tokens for request in running)
        held = sum(request.length + request.answer for request in running)
        while self.waiting and len(running) < options.running:
            arrival, request = self.waiting[0]
            tokens += request.new_tokens
            held += request.new_tokens + request.answer
            is_full = tokens > options.batch_tokens or held > options.cache_tokens
            if arrival > step or is_full:
                return
            running.append(request)
            del self.waiting[0]


@torch.no_grad()
def serving(recorder, options):
    with torch.device("cuda"):
        torch.set_default_dtype(torch.bfloat16)
        model = ServingModel(options).eval()
        torch.set_default_dtype(torch.float32)
    arrivals = Arrivals(options)
    running, step = [], 0
    while arrivals.waiting or running:
        arrivals.admit(step, running)
        if running:
            serve(model, running)
        running = [request for request in running if request.answer > 0]
        held = [tensor for request in running for tensor in request.cache.layers]
        recorder.check_live([*model.parameters(), *model.buffers(), *held])
        del held
        step += 1
    recorder.kept_alive = model
