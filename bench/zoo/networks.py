"""Networks of torchvision, timm and transformers, and two of our own, with random weights from a fixed seed.

`NETWORKS` has a function for each name. It returns the module and the arguments of one call.
"""

import timm
import torch
import torchvision
from torch import nn
from transformers import BertConfig, BertModel, WhisperConfig, WhisperModel

SEED = 1
# Statistics of a batch norm over a single value are not usable.
CALIBRATION_BATCH = 4


def image(size, channels=3):
    return torch.randn(1, channels, size, size)


def of_torchvision(name, size=224):
    return lambda: (torchvision.models.get_model(name, weights=None), (image(size),))


def of_timm(name):
    return lambda: (timm.create_model(name, pretrained=False), (image(224),))


class Out(nn.Module):
    """One result of a module with several."""

    def __init__(self, module, key):
        super().__init__()
        self.module, self.key = module, key

    def forward(self, *arguments):
        return self.module(*arguments)[self.key]


def deeplab(name):
    def make():
        model = torchvision.models.get_model(name, weights=None, weights_backbone=None)
        return Out(model, "out"), (image(256),)

    return make


def bert():
    config = BertConfig(
        hidden_size=384, num_hidden_layers=4, num_attention_heads=12, intermediate_size=1536, return_dict=False
    )
    tokens = torch.randint(0, config.vocab_size, (1, 128))
    return BertModel(config), (tokens, torch.ones_like(tokens))


def whisper_encoder():
    """The default configuration is that of whisper-tiny. 3000 columns of the spectrogram become 1500 frames."""
    return Out(WhisperModel(WhisperConfig(return_dict=False)).encoder, 0), (torch.randn(1, 80, 3000),)


def convolution(inputs, outputs, size=1, stride=1, activation=nn.SiLU):
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, size, stride, padding=size // 2, bias=False),
        nn.BatchNorm2d(outputs),
        activation(),
    )


class Narrow(nn.Module):
    """A network that computes in another type of floats."""

    def __init__(self, network, type):
        super().__init__()
        self.network, self.type = network.to(type), type

    def forward(self, *arguments):
        results = self.network(*(one.to(self.type) if one.is_floating_point() else one for one in arguments))
        return tuple(one.float() for one in results) if isinstance(results, tuple) else results.float()


class UNet(nn.Module):
    """Four levels of two 3x3 convolutions, with transposed convolutions upwards (Ronneberger et al. 2015)."""

    def __init__(self, width=32, levels=4, classes=4):
        super().__init__()
        widths = [width << level for level in range(levels + 1)]

        def twice(inputs, outputs):
            return nn.Sequential(
                convolution(inputs, outputs, 3, activation=nn.ReLU), convolution(outputs, outputs, 3, activation=nn.ReLU)
            )

        self.down = nn.ModuleList(twice(a, b) for a, b in zip([3, *widths], widths))
        upwards = list(zip(widths[1:], widths))[::-1]
        self.grow = nn.ModuleList(nn.ConvTranspose2d(a, b, 2, 2) for a, b in upwards)
        self.up = nn.ModuleList(twice(a, b) for a, b in upwards)
        self.head = nn.Conv2d(width, classes, 1)

    def forward(self, x):
        skipped = []
        for level in self.down:
            x = level(nn.functional.max_pool2d(x, 2) if skipped else x)
            skipped.append(x)
        for grow, up, other in zip(self.grow, self.up, skipped[-2::-1]):
            x = up(torch.cat([other, grow(x)], 1))
        return self.head(x)


class CrossStage(nn.Module):
    """Half of the channels pass residual blocks, the other half pass by (Wang et al. 2020)."""

    def __init__(self, inputs, outputs, blocks):
        super().__init__()
        half = outputs // 2
        self.through, self.by = convolution(inputs, half), convolution(inputs, half)
        self.blocks = nn.ModuleList(
            nn.Sequential(convolution(half, half), convolution(half, half, 3)) for _ in range(blocks)
        )
        self.join = convolution(outputs, outputs)

    def forward(self, x):
        y = self.through(x)
        for block in self.blocks:
            y = y + block(y)
        return self.join(torch.cat([y, self.by(x)], 1))


class Detector(nn.Module):
    """A backbone of cross-stage blocks, a feature pyramid, and scores with boxes for three strides."""

    def __init__(self, width=16, classes=80):
        super().__init__()
        widths = [width << level for level in range(5)]
        self.stem = convolution(3, width, 3, 2)
        self.stages = nn.ModuleList(
            nn.Sequential(convolution(a, b, 3, 2), CrossStage(b, b, blocks))
            for a, b, blocks in zip(widths, widths[1:], [1, 2, 3, 1])
        )
        self.lateral = nn.ModuleList(convolution(b, a) for a, b in [widths[3:], widths[2:4]])
        self.merge = nn.ModuleList(CrossStage(2 * a, a, 1) for a in [widths[3], widths[2]])
        self.heads = nn.ModuleList(nn.Conv2d(one, 5 + classes, 1) for one in widths[:1:-1])

    def forward(self, x):
        features = [self.stem(x)]
        for stage in self.stages:
            features.append(stage(features[-1]))
        pyramid = [features[-1]]
        for lateral, merge, other in zip(self.lateral, self.merge, features[-2:1:-1]):
            grown = nn.functional.interpolate(lateral(pyramid[-1]), scale_factor=2.0, mode="nearest")
            pyramid.append(merge(torch.cat([grown, other], 1)))
        return torch.cat([head(one).flatten(2) for head, one in zip(self.heads, pyramid)], 2).sigmoid()


NETWORKS = {
    **{
        name: of_torchvision(name)
        for name in (
            *("mobilenet_v2", "mobilenet_v3_small", "efficientnet_b0", "shufflenet_v2_x1_0", "regnet_y_400mf"),
            *("resnet18", "resnet50", "vgg16", "convnext_tiny"),
        )
    },
    "deit_tiny": of_timm("deit_tiny_patch16_224"),
    "vit_b_16": of_timm("vit_base_patch16_224"),
    "mixer_b16": of_timm("mixer_b16_224"),
    "deeplabv3_mobilenet_v3_large": deeplab("deeplabv3_mobilenet_v3_large"),
    "deeplabv3_resnet50": deeplab("deeplabv3_resnet50"),
    "bert": bert,
    "whisper_tiny_encoder": whisper_encoder,
    "unet": lambda: (UNet(), (image(256),)),
    "csp_detector": lambda: (Detector(), (image(320),)),
}


def network(name, type=None):
    """The network, ready for inference, and the arguments of a call. The same values in every run. `type` is None for floats of 32 bits."""
    torch.manual_seed(SEED)
    model, arguments = NETWORKS[name]()
    with torch.no_grad():
        for values in model.parameters():
            # Constants such as zeros, ones or ConvNeXt's 1e-6 would hide wrong results, and the compiler could fold them.
            if values.numel() > 1 and bool((values == values.flatten()[0]).all()):
                values += 0.1 * torch.randn_like(values)
        calibrate(model, arguments)
    model = model.eval()
    return (model if type is None else Narrow(model, type)), arguments


def calibrate(model, arguments):
    """Gives batch norms the statistics of random inputs, so that activations keep their scale."""
    norms = [one for one in model.eval().modules() if isinstance(one, nn.BatchNorm2d)]
    if not norms:
        return
    for one in norms:
        one.train()
        # The mean over all batches.
        one.momentum = None
    model(*(torch.randn(CALIBRATION_BATCH, *one.shape[1:]) for one in arguments))
