"""Exports a decoder with dynamic sizes by iree-turbine: `turbine.py FOLDER TYPE LAYERS WIDTH HEADS VOCABULARY`.
TYPE is `f32`, or `int4` for linear layers of 4 bits. It writes to FOLDER:
- decoder.mlir with two functions: `prefill` with any batch and sequence, `decode` with any batch
- decoder.irpa, the weights: parameters of the scope `model`
"""

import sys
from pathlib import Path

import torch
from iree.turbine import aot

from network import CAPACITY, Decoder, Sizes, store_in_4_bits

MOST_BATCH = 16


def export(folder, type, sizes):
    decoder = Decoder(sizes).eval()
    if type == "int4":
        store_in_4_bits(decoder)
    batch = torch.export.Dim("batch", min=1, max=MOST_BATCH)
    sequence = torch.export.Dim("sequence", min=1, max=CAPACITY)
    # Sizes of 0 and 1 would count as static.
    tokens, positions = torch.zeros(2, 2, dtype=torch.int64), torch.zeros(2, dtype=torch.int64)
    caches = [torch.zeros(sizes.cache_shape(2)) for _ in range(2 * sizes.layers)]
    aot.externalize_module_parameters(decoder, external_scope="model")
    programs = aot.FxProgramsBuilder(decoder)

    @programs.export_program(args=(tokens,), dynamic_shapes={"tokens": {0: batch, 1: sequence}}, strict=False)
    def prefill(decoder, tokens):
        return decoder.prefill(tokens)

    any_batch = {0: batch}
    shapes = {"tokens": any_batch, "positions": any_batch, "caches": [any_batch] * len(caches)}

    @programs.export_program(args=(tokens[:, :1], positions, caches), dynamic_shapes=shapes, strict=False)
    def decode(decoder, tokens, positions, caches):
        return decoder.decode(tokens, positions, caches)

    aot.save_module_parameters(folder / "decoder.irpa", decoder)
    # Write this file last: it marks the other as complete.
    aot.export(programs).save_mlir(folder / "decoder.mlir")


if __name__ == "__main__":
    folder, type, *sizes = sys.argv[1:]
    export(Path(folder), type, Sizes(*map(int, sizes)))
