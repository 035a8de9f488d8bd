"""Times one matrix product of a BLAS library and prints JSON.

  blas.py versions
  blas.py time LIBRARY M N K THREADS SECONDS

LIBRARY is openblas (by way of numpy) or mkl (by way of ctypes); the operands are f32. The time is taken as
compiled modules are timed: fifteen repetitions of at least SECONDS, the mean of each, and of those the mean of the fastest
fifth.
"""

import argparse
import ctypes
import glob
import importlib.metadata
import json
import math
import os
import statistics
import sys
import time

REPETITIONS = 15
FASTEST = 3
ALIGNMENT = 64


def find_mkl():
    """Path of the MKL that pip has installed into this environment, or None."""
    patterns = ["lib/libmkl_rt.so*", "lib/libmkl_rt*.dylib"]
    found = sorted(path for pattern in patterns for path in glob.glob(os.path.join(sys.prefix, pattern)))
    return found[0] if found else None


def versions():
    import numpy

    try:
        blas = numpy.show_config(mode="dicts")["Build Dependencies"]["blas"]
    except (TypeError, KeyError):
        blas = {}
    is_openblas = "openblas" in blas.get("name", "")
    return {
        "python": sys.version.split()[0],
        "numpy": numpy.__version__,
        "openblas": blas.get("version", "unknown") if is_openblas else None,
        "mkl": importlib.metadata.version("mkl") if find_mkl() else None,
    }


def aligned(numpy, shape, dtype):
    """An empty array that begins on a cache line, as a program that cares for speed would allocate it."""
    count = math.prod(shape)
    raw = numpy.empty(count * dtype.itemsize + ALIGNMENT, numpy.uint8)
    start = -raw.ctypes.data % ALIGNMENT
    return raw[start : start + count * dtype.itemsize].view(dtype).reshape(shape)


def mkl_product(a, b, c, threads):
    """A function without arguments that computes c = a b with MKL's cblas_sgemm."""
    path = find_mkl()
    if path is None:
        sys.exit("blas.py: MKL is not installed in " + sys.prefix)
    library = ctypes.CDLL(path)
    library.MKL_Set_Num_Threads(ctypes.c_int(threads))
    gemm = library.cblas_sgemm
    gemm.restype = None
    row_major, no_transpose = ctypes.c_int(101), ctypes.c_int(111)
    (m, k), n = map(ctypes.c_int, a.shape), ctypes.c_int(b.shape[1])
    pa, pb, pc = (ctypes.c_void_p(x.ctypes.data) for x in (a, b, c))
    one, zero = ctypes.c_float(1), ctypes.c_float(0)
    # Made once: converting them in every call would be seen in the small shapes.
    arguments = (row_major, no_transpose, no_transpose, m, n, k, one, pa, k, pb, n, zero, pc, n)
    return lambda: gemm(*arguments)


def check(numpy, a, b, c):
    """A library that is called wrongly must not look fast."""
    rows, columns = [0, -1], [0, -1]
    want = a[rows].astype(numpy.float64) @ b[:, columns].astype(numpy.float64)
    got = c[numpy.ix_(rows, columns)]
    if not numpy.allclose(got, want, rtol=1e-3, atol=1e-3 * math.sqrt(a.shape[1])):
        sys.exit("blas.py: the product is wrong")


def time_product(library, m, n, k, threads, seconds):
    # Read once, when the libraries are loaded.
    for variable in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
        os.environ[variable] = str(threads)
    os.environ["MKL_DYNAMIC"] = "FALSE"
    import numpy

    dtype = numpy.dtype(numpy.float32)
    random = numpy.random.default_rng(0)
    a, b, c = (aligned(numpy, shape, dtype) for shape in ((m, k), (k, n), (m, n)))
    for operand in (a, b):
        random.random(out=operand, dtype=dtype)
        operand -= 0.5
    c.fill(0)
    if library == "mkl":
        product = mkl_product(a, b, c, threads)
    else:
        matmul = numpy.matmul

        def product():
            matmul(a, b, out=c)

    def run(count):
        begin = time.perf_counter_ns()
        for _ in range(count):
            product()
        return (time.perf_counter_ns() - begin) * 1e-9

    # Threads are started and caches are filled by the first calls.
    product()
    check(numpy, a, b, c)
    count, elapsed = 1, run(1)
    while elapsed < seconds / 10:
        count *= 2
        elapsed = run(count)
    count = max(1, math.ceil(count * seconds / elapsed))
    means = [run(count) / count for _ in range(REPETITIONS)]
    return {"seconds": statistics.mean(sorted(means)[:FASTEST]), "calls": count * REPETITIONS}


def main():
    parser = argparse.ArgumentParser(description="Times one matrix product of a BLAS library.")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("versions")
    timing = commands.add_parser("time")
    timing.add_argument("library", choices=["openblas", "mkl"])
    for name in ("m", "n", "k"):
        timing.add_argument(name, type=int)
    timing.add_argument("threads", type=int)
    timing.add_argument("seconds", type=float)
    arguments = vars(parser.parse_args())
    result = versions() if arguments.pop("command") == "versions" else time_product(**arguments)
    print(json.dumps(result))


main()
