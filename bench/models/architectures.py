"""Hand-written architectures, as functions of their weights and inputs."""

from dataclasses import dataclass
from functools import partial
from typing import Callable, Sequence

import jax
import jax.numpy as jnp
import numpy as np


@dataclass(frozen=True)
class Model:
    """`function(weights, *inputs)` returns the results; weights and inputs are numpy arrays."""

    function: Callable
    weights: Sequence
    inputs: Sequence


class Weights:
    """Draws random weights, the same in every run. Layers take the weights in the order of the draws."""

    def __init__(self, element_type=np.float32):
        self._random = np.random.default_rng(1)
        self._element_type = element_type
        self.drawn = []

    def draw(self, *shape, mean=0.0, deviation):
        values = mean + deviation * self._random.standard_normal(shape, dtype=np.float32)
        self.drawn.append(values.astype(self._element_type))
        return self

    def linear(self, fan_in, fan_out):
        """A matrix that keeps the scale of its input, and a bias."""
        return self.draw(fan_in, fan_out, deviation=fan_in**-0.5).draw(fan_out, deviation=0.1)

    def norm(self, width):
        return self.draw(width, mean=1.0, deviation=0.1).draw(width, deviation=0.1)


def values(*shape, element_type=np.float32):
    """Normally distributed inputs."""
    return np.random.default_rng(2).standard_normal(shape, dtype=np.float32).astype(element_type)


def linear(take, x):
    """Sums in f32. The result has the type of `x`."""
    return jnp.matmul(x, take(), preferred_element_type=jnp.float32).astype(x.dtype) + take()


def layer_norm(take, x):
    wide = x.astype(jnp.float32)
    centred = wide - wide.mean(-1, keepdims=True)
    scaled = centred * jax.lax.rsqrt((centred**2).mean(-1, keepdims=True) + 1e-5)
    return scaled.astype(x.dtype) * take() + take()


def attention(take, x, heads):
    tokens, width = x.shape
    query, key, value = (
        linear(take, x).reshape(tokens, heads, width // heads).transpose(1, 0, 2) for _ in range(3)
    )
    product = partial(jnp.einsum, preferred_element_type=jnp.float32)
    scores = product("hqd,hkd->hqk", query, key) * (width // heads) ** -0.5
    weighted = product("hqk,hkd->hqd", jax.nn.softmax(scores).astype(x.dtype), value).astype(x.dtype)
    return linear(take, weighted.transpose(1, 0, 2).reshape(tokens, width))


def transformer(tokens, layers, width, hidden, heads, element_type=np.float32):
    """Pre-norm blocks of attention and a gelu MLP."""
    weights = Weights(element_type)
    for _ in range(layers):
        weights.norm(width)
        for _ in range(4):
            weights.linear(width, width)
        weights.norm(width).linear(width, hidden).linear(hidden, width)

    def function(weights, x):
        take = iter(weights).__next__
        for _ in range(layers):
            x = x + attention(take, layer_norm(take, x), heads)
            x = x + linear(take, jax.nn.gelu(linear(take, layer_norm(take, x))))
        return x

    return Model(function, weights.drawn, [values(tokens, width, element_type=element_type)])


def mlp(batch, widths):
    weights = Weights()
    for fan_in, fan_out in zip(widths, widths[1:]):
        weights.linear(fan_in, fan_out)

    def function(weights, x):
        take = iter(weights).__next__
        for _ in widths[2:]:
            x = jax.nn.relu(linear(take, x))
        return linear(take, x)

    return Model(function, weights.drawn, [values(batch, widths[0])])


def convnext(size, width, blocks):
    """ConvNeXt blocks of one resolution, channels last."""
    weights = Weights()
    for _ in range(blocks):
        weights.draw(7, 7, 1, width, deviation=1 / 7).draw(width, deviation=0.1)
        weights.norm(width).linear(width, 4 * width).linear(4 * width, width)

    def function(weights, x):
        take = iter(weights).__next__
        for _ in range(blocks):
            y = jax.lax.conv_general_dilated(
                x, take(), (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"), feature_group_count=width
            )
            y = layer_norm(take, y + take())
            x = x + linear(take, jax.nn.gelu(linear(take, y)))
        return x

    return Model(function, weights.drawn, [values(1, size, size, width)])


def matmul(m, n, k):
    weights = Weights().draw(k, n, deviation=k**-0.5)
    return Model(lambda weights, lhs: lhs @ weights[0], weights.drawn, [values(m, k)])


ARCHITECTURES = {
    "decode-1": lambda: transformer(1, 4, 768, 3072, 12),
    "decode-16": lambda: transformer(16, 4, 768, 3072, 12),
    "encoder-128": lambda: transformer(128, 4, 768, 3072, 12),
    "vit-s": lambda: transformer(197, 12, 384, 1536, 6),
    "speech-encoder": lambda: transformer(1500, 2, 384, 1536, 6),
    # A call of stock takes seconds.
    "speech-encoder-4500": lambda: transformer(4500, 2, 384, 1536, 6),
    "mlp": lambda: mlp(2048, [13, 512, 512, 512, 26]),
    "bert-bf16": lambda: transformer(128, 4, 768, 3072, 12, jnp.bfloat16),
    "convnext": lambda: convnext(14, 384, 9),
    "matmul-1x4096x4096": lambda: matmul(1, 4096, 4096),
    "matmul-2048x2048x2048": lambda: matmul(2048, 2048, 2048),
    "matmul-500x500x500": lambda: matmul(500, 500, 500),
    "matmul-384x768x768": lambda: matmul(384, 768, 768),
}
