"""Tests of the installed module in an environment with iree.compiler.

IREE_TUNED_TEST_PLACE is a folder with `in.mlir`, which has records in IREE_TUNED_DB, and `new.mlir`, which has none.
`test/packages/install.full.test.ts` creates both, and runs this file.
"""

import hashlib
import json
import os
import subprocess
import sys
import unittest
import warnings
from unittest import mock

import iree_compile_tuned
from iree_compile_tuned import CompileError, TuningWarning, compile_tuned, tuned_flags

PLACE = os.environ["IREE_TUNED_TEST_PLACE"]
INPUT = os.path.join(PLACE, "in.mlir")
NEW = os.path.join(PLACE, "new.mlir")
HOST = [
    "--iree-hal-target-device=local",
    "--iree-hal-local-target-device-backends=llvm-cpu",
    "--iree-llvmcpu-target-cpu=host",
]


def compile_in_process(flags):
    from iree.compiler import api

    session = api.Session()
    session.set_flags(*flags)
    invocation = session.invocation()
    invocation.parse_source(api.Source.open_file(session, INPUT))
    if not invocation.execute():
        raise AssertionError("it does not compile")
    output = api.Output.open_membuffer()
    invocation.output_vm_bytecode(output)
    # Keep a failure's message short.
    return hashlib.sha256(bytes(output.map_memory())).hexdigest()


class WithoutTuning(unittest.TestCase):
    def setUp(self):
        patch = mock.patch.dict(os.environ, {"IREE_TUNED_BUDGET": "0"})
        patch.start()
        self.addCleanup(patch.stop)


class TestInstall(WithoutTuning):
    def compile(self):
        import iree.compiler.tools as tools

        explain = os.path.join(PLACE, "python.json")
        if os.path.exists(explain):
            os.remove(explain)
        with mock.patch.dict(os.environ, {"IREE_TUNED_EXPLAIN": explain}):
            binary = tools.compile_file(INPUT, target_backends=["llvm-cpu"], extra_args=HOST[2:])
        binary = hashlib.sha256(binary).hexdigest()
        if not os.path.exists(explain):
            return binary, None
        with open(explain, encoding="utf-8") as file:
            return binary, json.load(file)

    def test_install_tunes_compiles_until_uninstall(self):
        before = dict(os.environ)
        stock, nothing = self.compile()
        self.assertIsNone(nothing)
        iree_compile_tuned.install()
        iree_compile_tuned.install()
        tuned, explanation = self.compile()
        self.assertEqual([one["outcome"] for one in explanation["operations"]], ["hit"])
        self.assertNotEqual(tuned, stock)
        iree_compile_tuned.uninstall()
        self.assertEqual(dict(os.environ), before)
        self.assertEqual(self.compile(), (stock, None))

    def test_install_keeps_the_compiler_of_iree_tool_path(self):
        os.environ["IREE_TOOL_PATH"] = os.pathsep.join(["/no/such", "/nor/this"])
        iree_compile_tuned.install()
        path = os.environ["IREE_TOOL_PATH"].split(os.pathsep)
        self.assertEqual(path[1:3], ["/no/such", "/nor/this"])
        iree_compile_tuned.uninstall()
        iree_compile_tuned.uninstall()
        self.assertEqual(os.environ["IREE_TOOL_PATH"], "/no/such:/nor/this")

    def test_install_without_a_compiler_names_the_way_out(self):
        with mock.patch("importlib.util.find_spec", return_value=None):
            with self.assertRaisesRegex(ModuleNotFoundError, "pip install iree-base-compiler"):
                iree_compile_tuned.install()


class TestCompile(WithoutTuning):
    def test_a_path_a_text_and_an_export_get_the_module_of_the_command(self):
        with open(INPUT, "rb") as file:
            text = file.read()

        class Export:
            def save_mlir(self, path):
                with open(path, "wb") as file:
                    file.write(text)

        output = os.path.join(PLACE, "command.vmfb")
        command = iree_compile_tuned._tools.command("iree-compile-tuned")
        subprocess.run([command, INPUT, *HOST, "-o", output], check=True)
        with open(output, "rb") as file:
            expected = file.read()
        self.assertEqual(compile_tuned(INPUT, HOST), expected)
        self.assertEqual(compile_tuned(text, HOST), compile_tuned(Export(), HOST))
        # The records are used: stock gives another module.
        with mock.patch.dict(os.environ, {"IREE_TUNED_DISABLE": "1"}):
            self.assertNotEqual(compile_tuned(INPUT, HOST), expected)

    def test_sizes_and_budget_reach_the_command(self):
        with mock.patch("iree_compile_tuned._compile.subprocess.run") as run:
            run.return_value.returncode = 1
            run.return_value.stderr = "no"
            with self.assertRaisesRegex(CompileError, "^no$"):
                compile_tuned(INPUT, HOST, budget=5, dim="batch=1,4 seq=8")
        argv = run.call_args.args[0]
        self.assertIn("--iree-tuned-budget=5", argv)
        self.assertIn("--iree-tuned-dim=batch=1,4 seq=8", argv)

    def test_a_program_that_does_not_compile_is_an_error_of_the_compiler(self):
        with self.assertRaisesRegex(CompileError, "error: "):
            compile_tuned(b"junk", HOST)
        with self.assertRaisesRegex(TypeError, "save_mlir"):
            compile_tuned(3, HOST)


class TestFlags(unittest.TestCase):
    def setUp(self):
        patch = mock.patch("iree_compile_tuned._flags._given", set())
        patch.start()
        self.addCleanup(patch.stop)
        context = warnings.catch_warnings()
        context.__enter__()
        self.addCleanup(context.__exit__, None, None, None)
        warnings.simplefilter("error")

    def test_tuned_flags_affect_one_input_only(self):
        stock = compile_in_process(HOST)
        flags = tuned_flags(INPUT, HOST)
        self.assertEqual(flags[-len(HOST) :], HOST)
        self.assertGreater(len(flags), len(HOST))
        tuned = compile_in_process(flags)
        self.assertNotEqual(tuned, stock)
        # The compiler keeps the flags, unless a later call resets them.
        self.assertEqual(compile_in_process(HOST), tuned)
        self.assertEqual(compile_in_process(tuned_flags(NEW, HOST)), stock)
        self.assertEqual(compile_in_process(flags), tuned)

    def test_tuned_flags_keep_the_flags_of_the_user(self):
        tuned_flags(INPUT, HOST)
        own = "--iree-codegen-tuning-spec-path=/own.mlir"
        flags = tuned_flags(NEW, [own, *HOST])
        self.assertEqual(flags[1:], [own, *HOST])
        self.assertNotIn("tuning-spec", flags[0])

    def test_tuned_flags_accept_text(self):
        with open(INPUT, "rb") as file:
            flags = tuned_flags(file.read(), HOST)
        self.assertEqual(len(flags), len(tuned_flags(INPUT, HOST)))
        self.assertGreater(len(flags), len(HOST))

    def test_an_input_without_records_keeps_its_flags(self):
        self.assertEqual(tuned_flags(NEW, HOST), HOST)
        self.assertEqual(tuned_flags(b"func.func @f() { return }", HOST), HOST)

    def test_tune_measures_misses(self):
        def answers(*outcomes):
            operations = [{"outcome": outcome} for outcome in outcomes]
            return json.dumps({"flags": ["--a"], "code": None, "reason": None, "operations": operations})

        with mock.patch("iree_compile_tuned._flags._run") as run:
            run.return_value = answers("hit", "skipped")
            self.assertEqual(tuned_flags(NEW, HOST, tune=True), ["--a", *HOST])
            self.assertEqual([call.args[0][2] for call in run.call_args_list], ["spec"])
            run.reset_mock()
            run.side_effect = [answers("hit", "default"), "{}", answers("hit", "hit")]
            self.assertEqual(tuned_flags(NEW, HOST, tune=True, budget=3), ["--a", *HOST])
            first, second, third = [call.args[0] for call in run.call_args_list]
        self.assertEqual(second[2:], ["tune", NEW, "--budget", "3", "--json", "--", *HOST])
        self.assertEqual(first, third)

    def test_flags_without_a_target_are_an_error(self):
        with self.assertRaisesRegex(ValueError, "--iree-hal-target-device"):
            tuned_flags(INPUT, ["--iree-llvmcpu-target-cpu=host"])

    def test_an_error_of_tuning_is_a_warning(self):
        unknown = [*HOST, "--no-such-flag"]
        for given, flags, env in [
            (INPUT, HOST, {"IREE_TUNED_INJECT": "somehow"}),
            (INPUT, HOST, {"IREE_TUNED_NODE": "/no/such"}),
            (INPUT, unknown, {}),
            (os.path.join(PLACE, "missing.mlir"), HOST, {}),
            (b"junk", HOST, {}),
        ]:
            with self.subTest(given=given, flags=flags, env=env), mock.patch.dict(os.environ, env):
                with self.assertWarns(TuningWarning) as warned:
                    self.assertEqual(tuned_flags(given, flags), flags)
                self.assertEqual(warned.filename, __file__)

    def test_each_process_removes_its_own_files(self):
        program = """
import os, sys, tempfile
from iree_compile_tuned import tuned_flags
flags = tuned_flags(sys.argv[1], sys.argv[2:])
child = os.fork()
if child == 0:
    sys.exit(0)
os.waitpid(child, 0)
path = flags[0].split("=", 1)[1]
assert os.path.exists(path), flags
print(path)
"""
        run = subprocess.run([sys.executable, "-c", program, INPUT, *HOST], stdout=subprocess.PIPE, check=True)
        path = run.stdout.decode().strip()
        self.assertTrue(os.path.isabs(path))
        self.assertFalse(os.path.exists(os.path.dirname(path)))


if __name__ == "__main__":
    unittest.main()
