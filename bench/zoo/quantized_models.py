"""Quantizes ONNX models by ONNX Runtime's quantizer: with QuantizeLinear and DequantizeLinear (QDQ), with QLinearConv and the like, or at run time."""

import tempfile
from pathlib import Path

import onnx
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_dynamic, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process

# Draws of inputs that give the ranges of values.
DRAWS = 4

SIGNED = {"activation_type": QuantType.QInt8, "weight_type": QuantType.QInt8}
UNSIGNED = {"activation_type": QuantType.QUInt8, "weight_type": QuantType.QInt8}

CHANNELS = {**UNSIGNED, "quant_format": QuantFormat.QDQ, "per_channel": True}

# By the kind of the source: one step for each tensor, the quantizer's usual unsigned images and one step for each channel of a filter, and
# QLinearConv and QLinearMatMul. IREE does not import other operations of the last kind, such as QLinearAdd.
STATIC = {
    "int8": {**SIGNED, "quant_format": QuantFormat.QDQ},
    "int8-channels": CHANNELS,
    "pt2e": CHANNELS,
    "tosa": {**CHANNELS, **SIGNED},
    "int8-operators": {
        **UNSIGNED,
        "quant_format": QuantFormat.QOperator,
        "op_types_to_quantize": ["Conv", "MatMul"],
    },
}
DYNAMIC = "int8-dynamic"


class Draws(CalibrationDataReader):
    def __init__(self, draw):
        self.draws = iter([draw() for _ in range(DRAWS)])

    def get_next(self):
        return next(self.draws, None)


def quantized(model, kind, draw):
    """The model in 8 bits. `draw` gives random inputs by name."""
    with tempfile.TemporaryDirectory() as work:
        given, prepared, result = (str(Path(work) / f"{name}.onnx") for name in ("given", "prepared", "result"))
        onnx.save(model, given)
        # Folds batch normalisation, which would be quantized on its own.
        quant_pre_process(given, prepared, skip_symbolic_shape=True)
        if kind == DYNAMIC:
            quantize_dynamic(prepared, result, weight_type=QuantType.QInt8)
        else:
            quantize_static(prepared, result, Draws(draw), **STATIC[kind])
        return onnx.load(result)
