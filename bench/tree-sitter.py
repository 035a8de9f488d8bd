"""Times tree-sitter-mlir on one file.

    tree-sitter.py FILE ROUNDS

Prints JSON: milliseconds of each pass, and what is wrong with the tree or null. A line is printed after each pass, so
that the caller has those before its time limit; the last line counts.
"""

import json
import pathlib
import sys
import time

from tree_sitter import Language, Parser
import tree_sitter_mlir

text = pathlib.Path(sys.argv[1]).read_bytes()
parser = Parser(Language(tree_sitter_mlir.language()))
milliseconds = []
for _ in range(1 + int(sys.argv[2])):
    start = time.perf_counter()
    tree = parser.parse(text)
    milliseconds.append((time.perf_counter() - start) * 1000)
    problem = "errors in its tree" if tree.root_node.has_error else None
    print(json.dumps({"milliseconds": milliseconds, "problem": problem}), flush=True)
