"""Transformers in the torch dialect, in the form of PyTorch's exporters: attention is one operation."""


class Text:
    """Collects the operations of a function."""

    def __init__(self):
        self.lines = []
        self.count = 0

    def define(self, operation, type):
        name = f"%v{self.count}"
        self.count += 1
        self.lines.append(f"    {name} = {operation}{f' : {type}' if type else ''}")
        return name

    def constant(self, kind, value):
        return self.define(f"torch.constant.{kind} {value}".rstrip(), None)

    def ints(self, values):
        items = [self.constant("int", value) for value in values]
        types = ", ".join(["!torch.int"] * len(items))
        return self.define(f"torch.prim.ListConstruct {', '.join(items)}", f"({types}) -> !torch.list<int>")

    def call(self, name, operands, types, shape):
        """Adds `torch.aten.name` with a result of this shape, and returns the result's name."""
        return self.define(f"torch.aten.{name} {', '.join(operands)}", f"{', '.join(types)} -> {tensor(*shape)}")


def tensor(*shape):
    return f"!torch.vtensor<[{','.join(map(str, shape))}],f32>"


def transformer_text(weights, tokens, layers, width, hidden, heads):
    """The text of `transformer` in architectures.py. The weights give shapes and order."""
    text = Text()
    names = iter([(f"%w{i}", one.shape) for i, one in enumerate(weights)])
    none, zero = text.constant("none", ""), text.constant("float", "0.000000e+00")
    one, epsilon = text.constant("int", 1), text.constant("float", "1.000000e-05")
    false, tanh = text.constant("bool", "false"), text.constant("str", '"tanh"')
    lists = "!torch.list<int>"

    def add(a, b, b_shape, shape):
        return text.call("add.Tensor", [a, b, one], [tensor(*shape), tensor(*b_shape), "!torch.int"], shape)

    def linear(x, fan_in):
        (matrix, shape), (bias, bias_shape) = next(names), next(names)
        result = (tokens, shape[1])
        product = text.call("matmul", [x, matrix], [tensor(tokens, fan_in), tensor(*shape)], result)
        return add(product, bias, bias_shape, result)

    def norm(x):
        (scale, shape), (shift, _) = next(names), next(names)
        types = [tensor(tokens, width), lists, tensor(*shape), tensor(*shape), "!torch.float", "!torch.bool"]
        return text.call("layer_norm", [x, text.ints([width]), scale, shift, epsilon, false], types, (tokens, width))

    def by_heads(x):
        split = (1, tokens, heads, width // heads)
        viewed = text.call("view", [x, text.ints(split)], [tensor(tokens, width), lists], split)
        permuted = (1, heads, tokens, width // heads)
        return text.call("permute", [viewed, text.ints([0, 2, 1, 3])], [tensor(*split), lists], permuted)

    def attention(x):
        own = (1, heads, tokens, width // heads)
        operands = [by_heads(linear(x, width)) for _ in range(3)]
        types = [tensor(*own)] * 3 + ["!torch.none", "!torch.float", "!torch.bool", "!torch.none", "!torch.bool"]
        weighted = text.call(
            "scaled_dot_product_attention", [*operands, none, zero, false, none, false], types, own
        )
        back = (1, tokens, heads, width // heads)
        permuted = text.call("permute", [weighted, text.ints([0, 2, 1, 3])], [tensor(*own), lists], back)
        return linear(text.call("view", [permuted, text.ints([tokens, width])], [tensor(*back), lists], (tokens, width)), width)

    x = "%x"
    for _ in range(layers):
        attended = attention(norm(x))
        x = add(x, attended, (tokens, width), (tokens, width))
        wide = linear(norm(x), width)
        active = text.call("gelu", [wide, tanh], [tensor(tokens, hidden), "!torch.str"], (tokens, hidden))
        x = add(x, linear(active, hidden), (tokens, width), (tokens, width))
    arguments = [f"%w{i}: {tensor(*one.shape)}" for i, one in enumerate(weights)] + [f"%x: {tensor(tokens, width)}"]
    body = "\n".join(text.lines)
    return (
        f"func.func @main({', '.join(arguments)}) -> {tensor(tokens, width)} {{\n{body}\n"
        f"    return {x} : {tensor(tokens, width)}\n}}\n"
    )
