"""Runs one model with OpenVINO on the CPU, in f32 and with one stream: see `peer.py`."""

import openvino

from peer import main


def open_model(path, threads):
    settings = {"INFERENCE_PRECISION_HINT": "f32", "NUM_STREAMS": "1", "INFERENCE_NUM_THREADS": str(threads)}
    request = openvino.compile_model(path, "CPU", settings).create_infer_request()
    return lambda values: list(request.infer(values, share_inputs=True, share_outputs=True).values())


if __name__ == "__main__":
    main(open_model)
