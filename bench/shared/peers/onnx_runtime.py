"""Runs one model with ONNX Runtime: see `peer.py`."""

import onnxruntime

from peer import main


def open_model(path, threads):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    names = [one.name for one in session.get_inputs()]
    return lambda values: session.run(None, dict(zip(names, values, strict=True)))


if __name__ == "__main__":
    main(open_model)
