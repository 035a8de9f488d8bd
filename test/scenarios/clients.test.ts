// Clients that find the compiler in a folder: CMake's IREE_HOST_BIN_DIR, and PATH.
import { realpathSync } from 'node:fs';
import { expect, test } from 'vitest';
import { byPath, isInstalled, shimmedWorkplace, simulatedInstallation } from './clients-support.ts';
import { HOST, matmulModule, oddMatmul, Workplace } from './support.ts';

test('install-shim says what it wrote and how to use it, and refuses what is not its own', async () => {
  const place = new Workplace();
  const install = (...argv: string[]) => place.tuned(['install-shim', "it's", ...argv]);
  const { code, stdout } = await install();
  expect(code).toBe(0);
  const folder = `'${place.path("it'\\''s")}'`;
  for (const use of [
    `export PATH=${folder}:"$PATH"`,
    `IREE_TOOL_PATH=${folder}`,
    `-DIREE_HOST_BIN_DIR=${folder}`,
  ])
    expect(stdout.toString()).toContain(use);
  const again = JSON.parse((await install('--json')).stdout.toString()) as Record<string, unknown>;
  expect(again).toMatchObject({ directory: place.path("it's"), written: [], removed: [] });
  expect(again['unchanged']).toEqual(
    expect.arrayContaining(['iree-compile', 'iree-opt', 'iree-lld', 'iree-run-module']),
  );

  place.write("it's/iree-opt", 'mine');
  const refused = await install();
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('--force') as string });
  expect(place.read("it's/iree-opt").toString()).toBe('mine');
  expect((await install('--force')).code).toBe(0);
});

const MODULES = [0, 1, 2, 3];
const FLAGS = ['--output-format=vm-bytecode', '--mlir-print-op-on-diagnostic=false', ...HOST];

/** What IREE's own CMake functions do: import the binaries, resolve their links, one command per module. */
const project = `cmake_minimum_required(VERSION 3.21)
project(modules NONE)

foreach(TOOL iree-compile iree-dump-module)
  file(REAL_PATH "\${IREE_HOST_BIN_DIR}/\${TOOL}" TOOL_PATH BASE_DIRECTORY "\${CMAKE_SOURCE_DIR}" EXPAND_TILDE)
  if(NOT EXISTS "\${TOOL_PATH}")
    message(FATAL_ERROR "no \${TOOL} in \${IREE_HOST_BIN_DIR}")
  endif()
  add_executable(\${TOOL} IMPORTED GLOBAL)
  set_property(TARGET \${TOOL} PROPERTY IMPORTED_LOCATION "\${TOOL_PATH}")
endforeach()

function(iree_bytecode_module NAME)
  get_filename_component(SRC "\${NAME}.mlir" REALPATH)
  add_custom_command(
    OUTPUT "\${NAME}.vmfb"
    COMMAND iree-compile ${FLAGS.join(' ')}
            "\${SRC}" -o "\${NAME}.vmfb" "--iree-hal-executable-object-search-path=\\"\${CMAKE_BINARY_DIR}\\""
    DEPENDS iree-compile "\${SRC}"
    COMMENT "Generating \${NAME}.vmfb from \${NAME}.mlir"
    VERBATIM
  )
  add_custom_command(
    OUTPUT "\${NAME}.txt"
    COMMAND iree-dump-module "\${NAME}.vmfb" > "\${NAME}.txt"
    DEPENDS iree-dump-module "\${NAME}.vmfb"
    VERBATIM
  )
  add_custom_target(\${NAME} ALL DEPENDS "\${NAME}.vmfb" "\${NAME}.txt")
endfunction()

foreach(INDEX RANGE 3)
  iree_bytecode_module(module\${INDEX})
endforeach()
`;

test(
  'a CMake project with IREE_HOST_BIN_DIR at the shims builds four modules at once',
  { timeout: 300_000 },
  async ({ skip }) => {
    skip(!isInstalled('cmake'), 'cmake is not installed');
    skip(!isInstalled('ninja'), 'ninja is not installed');
    const { place, shims } = await shimmedWorkplace({}, simulatedInstallation);
    place.write('CMakeLists.txt', project);
    // Two shapes: most modules meet one that another is just tuning.
    for (const i of MODULES)
      place.write(`module${i}.mlir`, matmulModule(61, 67, 71 + 2 * (i % 2)).replace('@main', `@main${i}`));
    const env = { IREE_TUNED_COMPILER: undefined };
    const configure = async (folder: string, tools: string) => {
      const argv = ['-G', 'Ninja', '-S', '.', '-B', folder, `-DIREE_HOST_BIN_DIR=${tools}`];
      const { code, stderr } = await place.run('cmake', argv, { env });
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    };
    const build = async (folder: string, budget: string) => {
      const run = await place.run('ninja', ['-C', folder, '-j8'], {
        env: { ...env, IREE_TUNED_BUDGET: budget },
      });
      expect({ code: run.code, stderr: run.stderr }).toEqual({ code: 0, stderr: '' });
      return run.stdout.toString();
    };
    for (const i of MODULES)
      await place.stock([...FLAGS, realpathSync(place.path(`module${i}.mlir`)), '-o', `stock${i}.vmfb`]);

    await configure('untuned', shims);
    // A failing command, or anything on stderr, would be part of what ninja prints.
    const untuned = await build('untuned', '0');
    expect(untuned.match(/^\[\d+\/8\] .*$/gm)).toHaveLength(8);
    expect(untuned.trimEnd().split('\n')).toHaveLength(9);
    for (const i of MODULES)
      expect(place.read(`untuned/module${i}.vmfb`).equals(place.read(`stock${i}.vmfb`))).toBe(true);
    expect(await build('untuned', '0')).toContain('no work to do');

    await configure('tuned', shims);
    // What three of four have to wait for takes seconds.
    expect((await build('tuned', '600')).trimEnd().split('\n')).toHaveLength(9);
    for (const i of MODULES) {
      expect(place.read(`tuned/module${i}.txt`).toString()).toContain(`main${i}`);
      expect(place.read(`tuned/module${i}.vmfb`).equals(place.read(`stock${i}.vmfb`))).toBe(false);
    }
    const records = await place.tuned(['records', '--json']);
    expect(JSON.parse(records.stdout.toString())).toHaveLength(2);
  },
);

const script = `#!/bin/sh
set -e
iree-compile ${HOST.join(' ')} in.mlir > out.vmfb 2> log
iree-dump-module out.vmfb > dump
`;

test.each([
  ['without a budget the very bytes of stock', '0'],
  ['with one a program that was tuned', '300'],
])('a shell script that redirects gets an empty log, and %s', { timeout: 240_000 }, async (_, budget) => {
  const { place, shims } = await shimmedWorkplace(
    { IREE_TUNED_BUDGET: budget },
    budget === '0' ? undefined : simulatedInstallation,
  );
  place.write('in.mlir', oddMatmul);
  place.write('build.sh', script);
  const stock = await place.stock([...HOST, 'in.mlir']);
  const result = await place.run('sh', ['build.sh'], { env: byPath(shims) });
  expect({ ...result, stdout: result.stdout.toString() }).toEqual({
    code: 0,
    signal: null,
    stdout: '',
    stderr: '',
  });
  expect(place.read('log').toString()).toBe('');
  expect(place.read('dump').toString()).toContain('main');
  expect(place.read('out.vmfb').equals(stock.stdout)).toBe(budget === '0');
});
