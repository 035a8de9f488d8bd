"""Prints the seconds of one product of cuBLAS on the first CUDA device.

  cublas.py M N K f16|f32

The operands have the given type, the result is f32; the time is the median of 50 calls by CUDA events. Exit code 3 means that PyPI's
nvidia-cublas-cu12 or the CUDA driver is missing.
"""

import ctypes
import importlib.util
import os
import statistics
import sys

WARM_UP, CALLS = 10, 50
R_32F, R_16F, COMPUTE_32F, DEFAULT_ALGORITHM, NO_TRANSPOSE = 0, 2, 68, -1, 0


def checked(code):
    if code != 0:
        sys.exit(f"CUDA or cuBLAS returned the error {code}")


def libraries():
    package = importlib.util.find_spec("nvidia")
    folders = [] if package is None else package.submodule_search_locations
    paths = [os.path.join(folder, "cublas", "lib", "libcublas.so.12") for folder in folders]
    found = [path for path in paths if os.path.exists(path)]
    if not found:
        return "nvidia-cublas-cu12 is not installed"
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return "libcuda.so.1 is not installed"
    ctypes.CDLL(os.path.join(os.path.dirname(found[0]), "libcublasLt.so.12"), mode=ctypes.RTLD_GLOBAL)
    return driver, ctypes.CDLL(found[0])


def main():
    m, n, k = map(int, sys.argv[1:4])
    element, bytes_each = (R_16F, 2) if sys.argv[4] == "f16" else (R_32F, 4)
    found = libraries()
    if isinstance(found, str):
        print(found, file=sys.stderr)
        sys.exit(3)
    cuda, cublas = found
    context, handle = ctypes.c_void_p(), ctypes.c_void_p()
    checked(cuda.cuInit(0))
    checked(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
    checked(cuda.cuCtxSetCurrent(context))
    checked(cublas.cublasCreate_v2(ctypes.byref(handle)))
    a, b, c = (ctypes.c_void_p() for _ in range(3))
    for pointer, size in ((a, m * k * bytes_each), (b, k * n * bytes_each), (c, m * n * 4)):
        checked(cuda.cuMemAlloc_v2(ctypes.byref(pointer), ctypes.c_size_t(size)))
        checked(cuda.cuMemsetD8_v2(pointer, ctypes.c_ubyte(0), ctypes.c_size_t(size)))
    one, zero = ctypes.c_float(1), ctypes.c_float(0)

    def call():
        # cuBLAS is column-major: the transposed product has the operands in turn.
        checked(
            cublas.cublasGemmEx(
                handle, NO_TRANSPOSE, NO_TRANSPOSE, n, m, k,
                ctypes.byref(one), b, element, n, a, element, k,
                ctypes.byref(zero), c, R_32F, n, COMPUTE_32F, DEFAULT_ALGORITHM,
            )
        )  # fmt: skip

    begin, end = ctypes.c_void_p(), ctypes.c_void_p()
    for event in (begin, end):
        checked(cuda.cuEventCreate(ctypes.byref(event), 0))
    seconds = []
    for i in range(WARM_UP + CALLS):
        checked(cuda.cuEventRecord(begin, None))
        call()
        checked(cuda.cuEventRecord(end, None))
        checked(cuda.cuEventSynchronize(end))
        elapsed = ctypes.c_float()
        checked(cuda.cuEventElapsedTime(ctypes.byref(elapsed), begin, end))
        if i >= WARM_UP:
            seconds.append(elapsed.value / 1000)
    print(statistics.median(seconds))


main()
