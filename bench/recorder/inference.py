"""The workload kv-cache-inference."""

import random

import torch
import torch.nn.functional as F
from torch import nn

from recorder.recorder import flash_attention


class InferenceBlock(nn.Module):
    def __init__(self, width, heads, cache_heads, inner_width):
        super().__init__()
        head_width = width // heads
        self.head_width = head_width
        self.repeats = heads // cache_heads
        self.norm1 = nn.RMSNorm(width)
        self.query = nn.Linear(width, heads * head_width, bias=False)
        self.key = nn.Linear(width, cache_heads * head_width, bias=False)
        self.value = nn.Linear(width, cache_heads * head_width, bias=False)
        self.out = nn.Linear(width, width, bias=False)
        self.norm2 = nn.RMSNorm(width)
        self.gate = nn.Linear(width, inner_width, bias=False)
        self.up = nn.Linear(width, inner_width, bias=False)
        self.down = nn.Linear(inner_width, width, bias=False)

    def split_heads(self, x):
        return x.view(x.shape[0], x.shape[1], -1, self.head_width).transpose(1, 2)

    def attend(self, x, rotation, cache, layer):
        query = rotate(self.split_heads(self.query(x)), rotation)
        key = rotate(self.split_heads(self.key(x)), rotation)
        value = self.split_heads(self.value(x))
        if layer < len(cache):
            old_key, old_value = cache[layer]
            key = torch.cat([old_key, key], dim=2)
            value = torch.cat([old_value, value], dim=2)
            cache[layer] = (key, value)
        else:
            cache.append((key, value))
        key = key.repeat_interleave(self.repeats, dim=1)
        value = value.repeat_interleave(self.repeats, dim=1)
        mixed = flash_attention(query, key, value, causal=x.shape[1] > 1)
        return self.out(mixed.transpose(1, 2).reshape(x.shape))

    def forward(self, x, rotation, cache, layer):
        x = x + self.attend(self.norm1(x), rotation, cache, layer)
        hidden = self.norm2(x)
        return x + self.down(F.silu(self.gate(hidden)) * self.up(hidden))


def rotate(x, rotation):
    """Rotary position embedding."""
    cosine, sine = rotation
    first, second = x.chunk(2, dim=-1)
    return x * cosine + torch.cat([-second, first], dim=-1) * sine


class InferenceModel(nn.Module):
    """A decoder with rotary positions, grouped-query attention and a gated inner layer."""

    def __init__(self, options):
        super().__init__()
        head_width = options.width // options.heads
        self.tokens = nn.Embedding(options.vocabulary, options.width)
        self.blocks = nn.ModuleList(self.new_block(options) for _ in range(options.layers))
        self.norm = nn.RMSNorm(options.width)
        self.head = nn.Linear(options.width, options.vocabulary, bias=False)
        powers = torch.arange(0, head_width, 2, dtype=torch.float32) / head_width
        self.register_buffer("frequencies", 10000.0**-powers)

    def new_block(self, options):
        return InferenceBlock(
            options.width, options.heads, options.cache_heads, options.inner_width
        )

    def forward(self, tokens, cache):
        seen = cache[0][0].shape[2] if cache else 0
        places = torch.arange(seen, seen + tokens.shape[1], device=tokens.device)
        angles = torch.outer(places.float(), self.frequencies)
        angles = torch.cat([angles, angles], dim=-1)
        x = self.tokens(tokens)
        rotation = (angles.cos().to(x.dtype), angles.sin().to(x.dtype))
        for layer, block in enumerate(self.blocks):
            x = block(x, rotation, cache, layer)
        return self.head(self.norm(x[:, -1]))


class Request:
    def __init__(self, batch, prompt_length, new_tokens):
        self.prompt_size = (batch, prompt_length)
        self.new_tokens = new_tokens
        self.cache = []
        self.text = None

    def advance(self, model, vocabulary):
        """Prefills at the first call, then decodes one token a call. True when finished."""
        if self.text is None:
            self.text = torch.randint(vocabulary, self.prompt_size).to("cuda")
            tokens = self.text
        else:
            tokens = self.text[:, -1:]
        logits = model(tokens, self.cache)
        best, candidates = (logits.float() / 0.8).topk(50, dim=-1)
        choice = torch.multinomial(best.softmax(dim=-1), 1)
        self.text = torch.cat([self.text, candidates.gather(1, choice)], dim=1)
        self.new_tokens -= 1
        return self.new_tokens == 0

    def tensors(self):
        return [self.text, *(tensor for pair in self.cache for tensor in pair)]


@torch.no_grad()
def kv_cache_inference(recorder, options):
    chance = random.Random(options.seed)
    with torch.device("cuda"):
        torch.set_default_dtype(torch.bfloat16)
        model = InferenceModel(options).eval()
        torch.set_default_dtype(torch.float32)
    waiting = [
        Request(
            chance.randint(1, options.batch),
            chance.randint(options.length // 32, options.length),
            chance.randint(options.new_tokens // 4, options.new_tokens),
        )
        for _ in range(options.requests)
    ]
    running = []
    while waiting or running:
        if waiting and len(running) < options.running:
            running.append(waiting.pop(0))
        running = [r for r in running if not r.advance(model, options.vocabulary)]
        held = [tensor for request in running for tensor in request.tensors()]
        recorder.check_live([*model.parameters(), *model.buffers(), *held])
        del held
    recorder.kept_alive = model
