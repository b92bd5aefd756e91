"""The workload mixture-of-experts."""

import random

import torch
import torch.nn.functional as F
from torch import nn

from recorder.training import TrainingBlock, TrainingModel, train


class Expert(nn.Module):
    def __init__(self, width, inner_width):
        super().__init__()
        self.gate = nn.Linear(width, inner_width, bias=False)
        self.up = nn.Linear(width, inner_width, bias=False)
        self.down = nn.Linear(inner_width, width, bias=False)

    def forward(self, x):
        return self.down(F.silu(self.gate(x)) * self.up(x))


class Routing:
    """How many tokens each expert gets. Fake tensors have no values, so chance decides.

    Some experts are liked more than others, and which they are changes from call to call.
    """

    def __init__(self, seed, experts, chosen):
        self.chance = random.Random(seed)
        self.experts = experts
        self.chosen = chosen  # Experts that a token goes to.

    def counts(self, tokens):
        shares = [self.chance.gammavariate(2.0, 1.0) for _ in range(self.experts)]
        wanted = [int(tokens * self.chosen * share / sum(shares)) for share in shares]
        counts = [min(tokens, count) for count in wanted]  # No expert gets a token twice.
        left = tokens * self.chosen - sum(counts)
        for expert in range(self.experts):
            more = min(left, tokens - counts[expert])
            counts[expert] += more
            left -= more
        return counts


class ExpertBlock(nn.Module):
    def __init__(self, options, routing):
        super().__init__()
        self.heads = options.heads
        self.dropout = options.dropout
        self.routing = routing
        self.norm1 = nn.LayerNorm(options.width)
        self.qkv = nn.Linear(options.width, 3 * options.width)
        self.out = nn.Linear(options.width, options.width)
        self.norm2 = nn.LayerNorm(options.width)
        self.router = nn.Linear(options.width, options.experts, bias=False)
        self.experts = nn.ModuleList(
            Expert(options.width, options.inner_width) for _ in range(options.experts)
        )

    attend = TrainingBlock.attend

    def mix(self, x):
        """Sorts the tokens by expert; each expert does its own, and the results are added up."""
        chosen = self.routing.chosen
        weights, experts = self.router(x).float().softmax(dim=-1).topk(chosen, dim=-1)
        weights = weights / weights.sum(dim=-1, keepdim=True)
        order = experts.flatten().argsort()
        places = order // chosen
        parts = x[places].split(self.routing.counts(len(x)))
        done = [expert(part) for expert, part in zip(self.experts, parts) if len(part) > 0]
        done = torch.cat(done) * weights.flatten()[order].unsqueeze(1)
        return torch.zeros_like(x).index_add(0, places, done)

    def forward(self, x):
        x = x + F.dropout(self.attend(self.norm1(x)), self.dropout, self.training)
        mixed = self.mix(self.norm2(x).flatten(0, 1)).view(x.shape)
        return x + F.dropout(mixed, self.dropout, self.training)


class ExpertModel(TrainingModel):
    """The decoder of transformer-training with experts for inner layers."""

    def new_block(self, options):
        return ExpertBlock(options, self.routing)

    def __init__(self, options):
        self.routing = Routing(options.seed, options.experts, options.chosen)
        super().__init__(options)


def mixture_of_experts(recorder, options):
    train(recorder, options, ExpertModel)
