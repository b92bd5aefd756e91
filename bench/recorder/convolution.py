"""The workload convolution-training."""

import random

import torch
import torch.nn.functional as F
from torch import nn

from recorder.recorder import bfloat16_autocast


class Convolution(nn.Sequential):
    """A convolution, and the batch normalization of what it gives."""

    def __init__(self, channels_in, channels_out, size, stride=1):
        super().__init__(
            nn.Conv2d(channels_in, channels_out, size, stride, size // 2, bias=False),
            nn.BatchNorm2d(channels_out),
        )


class Bottleneck(nn.Module):
    def __init__(self, channels_in, channels, stride):
        super().__init__()
        self.reduce = Convolution(channels_in, channels, 1)
        self.spread = Convolution(channels, channels, 3, stride)
        self.expand = Convolution(channels, 4 * channels, 1)
        is_same = stride == 1 and channels_in == 4 * channels
        self.shortcut = None if is_same else Convolution(channels_in, 4 * channels, 1, stride)

    def forward(self, x):
        y = F.relu(self.reduce(x), inplace=True)
        y = F.relu(self.spread(y), inplace=True)
        y = self.expand(y)
        y += x if self.shortcut is None else self.shortcut(x)
        return F.relu(y, inplace=True)


class ConvolutionModel(nn.Module):
    """A residual network of bottlenecks: 3, 4, 6 and 3 of them make the 50 layers of ResNet."""

    def __init__(self, options):
        super().__init__()
        self.stem = Convolution(3, options.channels, 7, 2)
        blocks, channels_in = [], options.channels
        for stage, depth in enumerate(map(int, options.depths.split(","))):
            channels = options.channels << stage
            for place in range(depth):
                stride = 2 if place == 0 and stage > 0 else 1
                blocks.append(Bottleneck(channels_in, channels, stride))
                channels_in = 4 * channels
        self.blocks = nn.Sequential(*blocks)
        self.head = nn.Linear(channels_in, options.classes)

    def forward(self, images):
        x = F.relu(self.stem(images), inplace=True)
        x = F.max_pool2d(x, 3, 2, 1)
        return self.head(self.blocks(x).mean((2, 3)))


def new_batch(batch, size, classes):
    images = torch.randint(256, (batch, 3, size, size), dtype=torch.uint8).to("cuda")
    return (images.float() / 255.0 - 0.45) / 0.225, torch.randint(classes, (batch,)).to("cuda")


def loss_of(recorder, model, images, labels):
    with bfloat16_autocast(recorder):
        return F.cross_entropy(model(images), labels, label_smoothing=0.1)


def training_step(recorder, model, optimizer, batch):
    loss = loss_of(recorder, model, *batch)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    return loss.item()


@torch.no_grad()
def evaluation(recorder, model, batch):
    model.eval()
    loss = loss_of(recorder, model, *batch)
    model.train()
    return loss.item()


def new_optimizer(model):
    return torch.optim.SGD(
        model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4, foreach=True
    )


def convolution_training(recorder, options):
    chance = random.Random(options.seed)
    with torch.device("cuda"):
        model = ConvolutionModel(options)
    optimizer = new_optimizer(model)
    for step in range(options.steps):
        size = 32 * chance.randint(options.size // 64, options.size // 32)
        batch = options.batch_pixels // size**2
        training_step(recorder, model, optimizer, new_batch(batch, size, options.classes))
        if step % 5 == 4:
            images = new_batch(2 * batch, options.size, options.classes)
            evaluation(recorder, model, images)
            del images
        state = [entry["momentum_buffer"] for entry in optimizer.state.values()]
        recorder.check_live([*model.parameters(), *model.buffers(), *state])
    recorder.kept_alive = (model, optimizer)
