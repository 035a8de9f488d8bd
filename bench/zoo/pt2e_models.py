"""Writes networks of 8 bits as PyTorch's own export gives them: PT2E with XNNPACK's quantizer, in the torch dialect."""

import torch
from iree.compiler.extras.fx_importer import FxImporter
from iree.compiler.ir import Context
from torch.ao.quantization.quantize_pt2e import convert_pt2e, prepare_pt2e
from torch.ao.quantization.quantizer.xnnpack_quantizer import XNNPACKQuantizer, get_symmetric_quantization_config

# Draws of inputs that give the ranges of values.
DRAWS = 4


def pt2e_text(network, arguments):
    """The network with a step for each channel of a filter, and its one function `main`."""
    quantizer = XNNPACKQuantizer().set_global(get_symmetric_quantization_config(is_per_channel=True))
    prepared = prepare_pt2e(torch.export.export_for_training(network, arguments).module(), quantizer)
    with torch.no_grad():
        for _ in range(DRAWS):
            prepared(*(torch.randn_like(one) for one in arguments))
    program = torch.export.export(convert_pt2e(prepared), arguments).run_decompositions()
    importer = FxImporter(context=Context())
    importer.import_frozen_program(program, func_name="main")
    return str(importer.module)
