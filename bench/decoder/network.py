"""A decoder of Llama's architecture with random weights from a fixed seed: RMSNorm, rotary embedding, grouped-query attention, SwiGLU."""

import math
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional

SEED = 1
# Tokens that a cache holds.
CAPACITY = 512
# Queries that share a key, as in Llama 3.
GROUP = 4
ROTARY_BASE = 10000.0
EPSILON = 1e-5


@dataclass(frozen=True)
class Sizes:
    layers: int
    width: int
    heads: int
    vocabulary: int

    @property
    def key_heads(self):
        return self.heads // GROUP

    @property
    def head_size(self):
        return self.width // self.heads

    @property
    def hidden(self):
        """Llama's rule: 8/3 of the width, rounded up."""
        return math.ceil(8 * self.width / 3 / 64) * 64

    def cache_shape(self, batch):
        return (batch, self.key_heads, CAPACITY, self.head_size)


class Norm(nn.Module):
    """RMSNorm, computed in f32."""

    def __init__(self, width):
        super().__init__()
        self.scale = nn.Parameter(torch.rand(width) + 0.5)

    def forward(self, x):
        wide = x.float()
        unit = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + EPSILON)
        return self.scale * unit.to(x.dtype)


def linear(inputs, outputs, gain=1.0):
    layer = nn.Linear(inputs, outputs, bias=False)
    nn.init.normal_(layer.weight, std=gain / math.sqrt(inputs))
    return layer


# Weights of a block of 4 bits.
BLOCK = 32


def in_blocks(weight):
    """Weights [n, k] as integers of 4 bits [n, k / BLOCK, BLOCK], with a factor and a zero point of each block [n, k / BLOCK, 1]."""
    blocks = weight.detach().reshape(weight.shape[0], -1, BLOCK)
    low, high = blocks.amin(-1, keepdim=True), blocks.amax(-1, keepdim=True)
    factors = (high - low) / 15
    zeros = (-low / factors).round().clamp(0, 15)
    return (blocks / factors + zeros).round().clamp(0, 15).to(torch.uint8), factors, zeros


def in_bytes(integers):
    """Pairs of integers of 4 bits along the last dimension, the first in the lower half."""
    return integers[..., ::2] | integers[..., 1::2] << 4


class BlockLinear(nn.Module):
    """A linear layer with weights of 4 bits."""

    def __init__(self, layer):
        super().__init__()
        integers, factors, zeros = in_blocks(layer.weight)
        self.register_buffer("stored", in_bytes(integers.flatten(1)))
        self.register_buffer("factors", factors)
        self.register_buffer("zeros", zeros)

    def forward(self, x):
        halves = torch.stack([self.stored & 15, self.stored >> 4], -1)
        integers = halves.reshape(*self.factors.shape[:2], BLOCK).to(x.dtype)
        return functional.linear(x, ((integers - self.zeros) * self.factors).flatten(1))


def store_in_4_bits(module):
    """Replaces all linear layers of a module."""
    for name, child in module.named_children():
        if isinstance(child, nn.Linear):
            setattr(module, name, BlockLinear(child))
        else:
            store_in_4_bits(child)


class Layer(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.sizes = sizes
        width, keys = sizes.width, sizes.key_heads * sizes.head_size
        # Keeps the sum over all layers as large as one embedding.
        gain = 1 / math.sqrt(2 * sizes.layers)
        self.attention_norm, self.feed_norm = Norm(width), Norm(width)
        self.query, self.key, self.value = linear(width, width), linear(width, keys), linear(width, keys)
        self.out = linear(width, width, gain)
        self.gate, self.up = linear(width, sizes.hidden), linear(width, sizes.hidden)
        self.down = linear(sizes.hidden, width, gain)

    def forward(self, x, rotary, mask, store):
        """`store` takes the new keys and values, and returns those to attend to, which are also returned."""
        normed = self.attention_norm(x)
        query = rotated(self.by_heads(self.query(normed), self.sizes.heads), rotary)
        key = rotated(self.by_heads(self.key(normed), self.sizes.key_heads), rotary)
        keys, values = store(key, self.by_heads(self.value(normed), self.sizes.key_heads))
        x = x + self.out(self.attended(query, keys, values, mask))
        normed = self.feed_norm(x)
        x = x + self.down(functional.silu(self.gate(normed)) * self.up(normed))
        return x, keys, values

    def by_heads(self, x, heads):
        return x.view(*x.shape[:2], heads, self.sizes.head_size).transpose(1, 2)

    def attended(self, query, keys, values, mask):
        """Queries of a group are rows of one product, so that no key is copied."""
        batch, heads, length, size = query.shape
        grouped = query.reshape(batch, self.sizes.key_heads, GROUP * length, size)
        mixed = functional.scaled_dot_product_attention(grouped, keys, values, attn_mask=mask)
        return mixed.reshape(batch, heads, length, size).transpose(1, 2).reshape(batch, length, heads * size)


def rotated(x, rotary):
    cosine, sine = rotary
    low, high = x.chunk(2, -1)
    return x * cosine + torch.cat((-high, low), -1) * sine


class Decoder(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        torch.manual_seed(SEED)
        self.sizes = sizes
        self.embedding = nn.Embedding(sizes.vocabulary, sizes.width)
        self.layers = nn.ModuleList(Layer(sizes) for _ in range(sizes.layers))
        self.norm = Norm(sizes.width)
        self.head = linear(sizes.width, sizes.vocabulary)
        exponents = torch.arange(0, sizes.head_size, 2) / sizes.head_size
        angles = torch.outer(torch.arange(CAPACITY), ROTARY_BASE**-exponents).repeat(1, 2)
        self.register_buffer("cosine", angles.cos())
        self.register_buffer("sine", angles.sin())

    def prefill(self, tokens):
        """Tokens [b, s] from position 0. Returns logits [b, s, vocabulary], then keys and values [b, key heads, s, head size] of each layer."""
        length = tokens.shape[1]
        rotary = (self.cosine[:length], self.sine[:length])
        places = torch.arange(length)
        # The compiler takes no masks of a lower rank than the keys.
        causal = self.mask_of(places <= places[:, None]).repeat(GROUP, 1)[None, None]
        return self.run(tokens, rotary, causal, [lambda key, value: (key, value)] * self.sizes.layers)

    def decode(self, tokens, positions, caches):
        """
        Tokens [b, 1] at positions [b], with keys and values [b, key heads, capacity, head size] of each layer. Returns logits
        [b, 1, vocabulary], then the caches with the new keys and values.
        """
        rotary = (self.cosine[positions][:, None, None], self.sine[positions][:, None, None])
        seen = torch.arange(CAPACITY) <= positions[:, None, None, None]
        at = positions[:, None, None, None].expand(-1, self.sizes.key_heads, 1, self.sizes.head_size)

        def store_in(keys, values):
            return lambda key, value: (keys.scatter(2, at, key), values.scatter(2, at, value))

        stores = [store_in(*caches[2 * i : 2 * i + 2]) for i in range(self.sizes.layers)]
        return self.run(tokens, rotary, self.mask_of(seen), stores)

    def mask_of(self, seen):
        """Added to scores."""
        return torch.where(seen, 0.0, -torch.inf).to(self.cosine.dtype)

    def run(self, tokens, rotary, mask, stores):
        x = self.embedding(tokens)
        caches = []
        for layer, store in zip(self.layers, stores, strict=True):
            x, *own = layer(x, rotary, mask, store)
            caches += own
        return self.head(self.norm(x)).float(), *caches
