"""Exports one network with several opsets of ONNX, and imports each file: python export.py OPSET... in an environment with torch, onnx and
iree-base-compiler. Newer opsets have operations of their own for what older ones write with several, such as a normalisation."""

import subprocess
import sys

import torch
from torch import nn


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 16, 3, 2, 1, bias=False), nn.BatchNorm2d(16), nn.ReLU6())
        self.depthwise = nn.Sequential(nn.Conv2d(16, 16, 3, 1, 1, groups=16, bias=False), nn.BatchNorm2d(16), nn.Hardswish())
        self.squeeze, self.excite, self.point = nn.Conv2d(16, 8, 1), nn.Conv2d(8, 16, 1), nn.Conv2d(16, 16, 1)
        self.norm, self.head = nn.LayerNorm(16), nn.Linear(16, 32)

    def forward(self, image):
        x = self.stem(image)
        y = self.depthwise(x)
        gate = torch.sigmoid(self.excite(torch.relu(self.squeeze(y.mean((2, 3), keepdim=True)))))
        x = torch.nn.functional.max_pool2d(x + self.point(y * gate), 2)
        x = self.norm(x.reshape(1, 16, 256).transpose(1, 2))
        return torch.softmax(self.head(x), -1)


torch.manual_seed(1)
network = Network().eval()
for opset in map(int, sys.argv[1:]):
    torch.onnx.export(network, (torch.rand(1, 3, 64, 64),), "network.onnx", opset_version=opset, dynamo=False)
    importer = [sys.executable, "-m", "iree.compiler.tools.import_onnx"]
    subprocess.run([*importer, "network.onnx", "-o", f"{opset}.mlir"], check=True)
