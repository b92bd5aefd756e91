"""The workload transformer-training."""

import random

import torch
import torch.nn.functional as F
from torch import nn

from recorder.recorder import bfloat16_autocast, flash_attention


class TrainingBlock(nn.Module):
    def __init__(self, width, heads, dropout):
        super().__init__()
        self.heads = heads
        self.dropout = dropout
        self.norm1 = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.norm2 = nn.LayerNorm(width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def attend(self, x):
        batch, length, width = x.shape
        parts = self.qkv(x).split(width, dim=2)
        query, key, value = (
            part.view(batch, length, self.heads, -1).transpose(1, 2) for part in parts
        )
        dropout = self.dropout if self.training else 0.0
        mixed = flash_attention(query, key, value, dropout, causal=True)
        return self.out(mixed.transpose(1, 2).reshape(batch, length, width))

    def forward(self, x):
        x = x + F.dropout(self.attend(self.norm1(x)), self.dropout, self.training)
        hidden = F.gelu(self.up(self.norm2(x)))
        return x + F.dropout(self.down(hidden), self.dropout, self.training)


class TrainingModel(nn.Module):
    """A decoder with learned positions; the output layer shares the embedding's weight."""

    def __init__(self, options):
        super().__init__()
        self.dropout = options.dropout
        self.tokens = nn.Embedding(options.vocabulary, options.width)
        self.positions = nn.Embedding(options.length, options.width)
        self.blocks = nn.ModuleList(self.new_block(options) for _ in range(options.layers))
        self.norm = nn.LayerNorm(options.width)
        self.head = nn.Linear(options.width, options.vocabulary, bias=False)
        self.head.weight = self.tokens.weight

    def new_block(self, options):
        return TrainingBlock(options.width, options.heads, options.dropout)

    def forward(self, tokens):
        places = torch.arange(tokens.shape[1], device=tokens.device)
        x = self.tokens(tokens) + self.positions(places)
        x = F.dropout(x, self.dropout, self.training)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def next_token_loss(recorder, model, text):
    with bfloat16_autocast(recorder):
        logits = model(text[:, :-1].contiguous())
        return F.cross_entropy(logits.flatten(0, 1), text[:, 1:].flatten())


def new_text(batch, length, vocabulary):
    return torch.randint(vocabulary, (batch, length + 1)).to("cuda")


def training_step(recorder, model, optimizer, batch, length, vocabulary):
    loss = next_token_loss(recorder, model, new_text(batch, length, vocabulary))
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0, foreach=True)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    return loss.item()


@torch.no_grad()
def evaluation(recorder, model, batch, length, vocabulary):
    model.eval()
    loss = next_token_loss(recorder, model, new_text(batch, length, vocabulary))
    model.train()
    return loss.item()


def train(recorder, options, new_model, after_step=lambda model, step, batch: None):
    """Trains in steps of changing length, of as many texts as make up options.batch_tokens."""
    chance = random.Random(options.seed)
    with torch.device("cuda"):
        model = new_model(options)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, foreach=True)
    for step in range(options.steps):
        length = 8 * chance.randint(options.length // 32, options.length // 8)
        batch = max(1, options.batch_tokens // length)
        training_step(recorder, model, optimizer, batch, length, options.vocabulary)
        after_step(model, step, batch)
        state = [t for entry in optimizer.state.values() for t in entry.values()]
        recorder.check_live([*model.parameters(), *state])
    recorder.kept_alive = (model, optimizer)


def transformer_training(recorder, options):
    def evaluate(model, step, batch):
        if step % 5 == 4:
            evaluation(recorder, model, batch // 2 + 1, options.length, options.vocabulary)

    train(recorder, options, TrainingModel, evaluate)
