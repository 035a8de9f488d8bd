// Clients in Python: IREE's own binding, and programs that run iree-compile as a command.
// In full after a change of python.
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { isWithout } from '../support/needs.ts';
import { compiler, runtimeTool } from '../support/real-tools.ts';
import {
  byPath,
  byToolPath,
  noPython,
  python,
  shimmedWorkplace,
  simulatedInstallation,
} from './clients-support.ts';
import { HOST, oddMatmul, type Workplace, argv } from './support.ts';

/** Calls the binding as its users do, and prints the result. */
const binding = `
import hashlib, json
import iree.compiler.tools as tools

flags = dict(target_backends=["llvm-cpu"], extra_args=["--iree-llvmcpu-target-cpu=host"])
digest = lambda binary: hashlib.sha256(binary).hexdigest()

def diagnostics():
    try:
        tools.compile_str("func.func @f() { this is no operation }", **flags)
    except tools.CompilerToolError as error:
        return str(error).split("Diagnostics:")[1].split("Invoked with:")[0]

written = tools.compile_file("in.mlir", output_file="out.vmfb", **flags)
print(json.dumps(dict(
    targets=tools.query_available_targets(),
    file=digest(tools.compile_file("in.mlir", **flags)),
    output=[written, digest(open("out.vmfb", "rb").read())],
    string=digest(tools.compile_str(open("in.mlir").read(), **flags)),
    diagnostics=diagnostics(),
)))
`;

describe('the Python binding, with IREE_TOOL_PATH at the shims', () => {
  const call = async (place: Workplace, env: Readonly<Record<string, string | undefined>>) => {
    const { code, stdout, stderr } = await place.run(python!, ['-c', binding], { env });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    return JSON.parse(stdout.toString()) as Record<string, unknown>;
  };

  /** Output of the binding without shims. It does not depend on the place. */
  let withoutShims: Promise<Record<string, unknown>> | undefined;
  const stockOf = (place: Workplace) => (withoutShims ??= call(place, { IREE_TOOL_PATH: undefined }));

  test('gives the same output as without shims if the budget is 0', async ({ skip }) => {
    if (isWithout(noPython)) skip();
    const { place, shims } = await shimmedWorkplace({ IREE_TUNED_BUDGET: '0' });
    place.write('in.mlir', oddMatmul);
    const stock = await stockOf(place);
    expect(stock).toMatchObject({
      targets: expect.arrayContaining(['llvm-cpu']) as string[],
      diagnostics: expect.stringContaining("custom op 'this' is unknown") as string,
    });
    expect(await call(place, byToolPath(shims))).toEqual(stock);
  });

  test('gets tuned modules, from files and from strings', { timeout: 240_000 }, async ({ skip }) => {
    if (isWithout(noPython)) skip();
    const { place, shims } = await shimmedWorkplace({ IREE_TUNED_BUDGET: '300' }, simulatedInstallation);
    place.write('in.mlir', oddMatmul);
    const stock = await stockOf(place);
    const miss =
      'import iree.compiler.tools as tools; tools.compile_file("in.mlir", target_backends=["llvm-cpu"], extra_args=["--iree-llvmcpu-target-cpu=host"])';
    expect(await place.run(python!, ['-c', miss], { env: byToolPath(shims) })).toMatchObject({
      code: 0,
      stderr: '',
    });
    const tuned = await call(place, { ...byToolPath(shims), IREE_TUNED_BUDGET: '0' });
    expect(tuned).toMatchObject({ targets: stock['targets'], diagnostics: stock['diagnostics'] });
    for (const form of ['file', 'output', 'string']) expect(tuned[form]).not.toEqual(stock[form]);
  });

  test("pip's own iree-compile gets tuned modules, and the two do not call each other forever", async ({
    skip,
  }) => {
    if (isWithout(noPython)) skip();
    const { place, shims } = await shimmedWorkplace({ IREE_TUNED_BUDGET: '0' });
    place.write('in.mlir', oddMatmul);
    for (const setting of [undefined, compiler.invokedAs]) {
      const env = {
        ...byToolPath(shims),
        IREE_TUNED_COMPILER: setting,
        IREE_TUNED_EXPLAIN: `${String(setting === undefined)}.json`,
      };
      const result = await place.run('iree-compile', argv, { env });
      expect({ code: result.code, stderr: result.stderr }).toEqual({ code: 0, stderr: '' });
      expect(place.has(env.IREE_TUNED_EXPLAIN)).toBe(true);
    }
  });
});

describe('a test suite that runs commands as strings, with the shims first in PATH', () => {
  // As in onnx_ops of iree-test-suites.
  const suite = `
import subprocess, sys
compile = subprocess.list2cmdline(["iree-compile", "model.mlir", *sys.argv[1:], "-o", "model_cpu.vmfb"])
run = subprocess.list2cmdline(["iree-run-module", "--module=model_cpu.vmfb", "--device=local-task", "--flagfile=io.txt"])
for command in [compile, run]:
    process = subprocess.run(command, shell=True, capture_output=True, cwd=".")
    assert process.returncode == 0, process.stderr
    if command is compile:
        assert (process.stdout, process.stderr) == (b"", b""), process
    else:
        assert b"[SUCCESS]" in process.stdout, process
`;
  const model = `func.func @main(%a: !torch.vtensor<[2,3],f32>, %b: !torch.vtensor<[3,1],f32>) -> !torch.vtensor<[2,1],f32> attributes {torch.onnx_meta.ir_version = 7 : si64, torch.onnx_meta.opset_version = 17 : si64} {
  %r = torch.operator "onnx.MatMul"(%a, %b) : (!torch.vtensor<[2,3],f32>, !torch.vtensor<[3,1],f32>) -> !torch.vtensor<[2,1],f32>
  return %r : !torch.vtensor<[2,1],f32>
}
`;
  const io = `--function=main
--input=2x3xf32=1 2 3 4 5 6
--input=3x1xf32=1 10 100
--expected_output=2x1xf32=321 654
`;

  test('compiles and runs', { timeout: 240_000 }, async ({ skip }) => {
    if (isWithout(noPython)) skip();
    const { place, shims } = await shimmedWorkplace({ IREE_TUNED_BUDGET: '300' }, simulatedInstallation);
    place.write('model.mlir', model);
    place.write('io.txt', io);
    const env = { ...byPath(shims), IREE_TUNED_EXPLAIN: place.path('explain.json') };
    const { code, stderr } = await place.run(python!, ['-c', suite, ...HOST], { env });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(place.read('explain.json').toString())).toMatchObject({
      operations: [{ outcome: 'tuned' }],
    });
  });
});

describe('a client that gives the compile a few seconds', () => {
  // BOO of iree-turbine gives a string. If the shell starts the command as a child, the client kills the shell alone.
  const boo = `
import shlex, subprocess, sys
form, *flags = sys.argv[1:]
command = ["iree-compile", *flags, "in.mlir", "-o", "out.vmfb"]
if form == "string":
    command = shlex.join(command)
try:
    process = subprocess.run(command, capture_output=True, shell=form == "string", timeout=4)
    print(process.returncode, process.stderr)
except subprocess.TimeoutExpired:
    print("timed out")
`;
  test.skipIf(process.platform !== 'linux').for(['string', 'list'])(
    'as a %s: leaves nothing running when it gives up, and its next build works',
    { timeout: 240_000 },
    async (form, { skip }) => {
      if (isWithout(noPython)) skip();
      const { place, shims } = await shimmedWorkplace({ IREE_TUNED_BUDGET: '600' }, simulatedInstallation);
      place.write('in.mlir', oddMatmul);
      place.write('hold', '');
      const temporary = place.path('tmp');
      mkdirSync(temporary);
      const explain = place.path('explain.json');
      const env = { ...byPath(shims), TMPDIR: temporary, IREE_TUNED_EXPLAIN: explain };
      const { stdout } = await place.run(python!, ['-c', boo, form, ...HOST], { env });
      expect(stdout.toString()).toBe('timed out\n');
      // Measuring tools may end first.
      while (processesOf(place).length > 0) await sleep(100);
      // The build was killed, or it lost its shell and finished the compile without further tuning.
      if (form === 'list') expect(place.has('explain.json')).toBe(false);
      if (place.has('explain.json'))
        expect(place.read('explain.json').toString()).toContain('tuning was interrupted');

      place.remove('hold');
      rmSync(place.path('out.vmfb'), { force: true });
      const { code, stderr } = await place.run('iree-compile', argv, {
        env: { ...env, IREE_TUNED_BUDGET: '0' },
      });
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      const dump = await place.run(runtimeTool('iree-dump-module'), ['out.vmfb']);
      expect(dump.stdout.toString()).toContain('main');
      const cache = readdirSync(place.path('cache'), { recursive: true }) as string[];
      expect([...readdirSync(temporary), ...cache.filter((name) => /^work\/|\.tmp$/.test(name))]).toEqual([]);
    },
  );
});

/** Command lines of all processes that have this place's settings. */
function processesOf(place: Workplace): string[] {
  return readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid))
    .flatMap((pid) => {
      try {
        if (!readFileSync(`/proc/${pid}/environ`).includes(place.folder)) return [];
        return [readFileSync(`/proc/${pid}/cmdline`, 'latin1')];
      } catch {
        // It has ended, or is somebody else's.
        return [];
      }
    });
}
