// Clients that find the compiler in a folder: CMake's IREE_HOST_BIN_DIR, and PATH.
// In full after a change of src/cli/shim.
import { realpathSync } from 'node:fs';
import { expect, test } from 'vitest';
import { casesOfTier, isWithout } from '../support/needs.ts';
import { compiler } from '../support/real-tools.ts';
import { byPath, isInstalled, shimmedWorkplace, simulatedInstallation } from './clients-support.ts';
import { recordMisses } from './faults/support.ts';
import { HOST, matmulModule, oddMatmul, Workplace } from './support.ts';

test('install-shim lists its files with their use, and refuses foreign files', async () => {
  const place = Workplace.real();
  const install = (...argv: string[]) => place.tuned(['shim', "it's", ...argv]);
  const { code, stdout } = await install();
  expect(code).toBe(0);
  const folder = `'${place.path("it'\\''s")}'`;
  for (const use of [
    `export PATH=${folder}:"$PATH"`,
    `IREE_TOOL_PATH=${folder}`,
    `-DIREE_HOST_BIN_DIR=${folder}`,
  ])
    expect(stdout).toContain(use);
  const again = JSON.parse((await install('--json')).stdout) as Record<string, unknown>;
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

/** As IREE's own CMake functions: imports the binaries, resolves their links, and runs one command per module. */
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
  { timeout: 300_000, tags: 'full' },
  async ({ skip }) => {
    if (isWithout(isInstalled('cmake') ? null : 'cmake is not installed')) skip();
    if (isWithout(isInstalled('ninja') ? null : 'ninja is not installed')) skip();
    const { place, shims } = await shimmedWorkplace({});
    place.write('CMakeLists.txt', project);
    for (const i of MODULES)
      place.write(`module${i}.mlir`, matmulModule(61, 67, 71 + 2 * (i % 2)).replace('@main', `@main${i}`));
    const env = { IREE_TUNED_COMPILER: undefined };
    const run = async (file: string, argv: readonly string[], settings = {}) => {
      const { code, stdout, stderr } = await place.run(file, argv, { env: { ...env, ...settings } });
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      return stdout.toString();
    };
    const ninja = (more: readonly string[] = [], settings = {}) =>
      run('ninja', ['-C', 'build', '-j8', ...more], settings);
    // The absolute path of the input shows that the module was compiled here.
    const stocks = MODULES.map((i) =>
      place.run(compiler.executable, [
        ...[...FLAGS, realpathSync(place.path(`module${i}.mlir`))],
        ...['-o', `stock${i}.vmfb`],
      ]),
    );
    for (const stock of await Promise.all(stocks)) expect(stock).toMatchObject({ code: 0 });

    await run('cmake', ['-G', 'Ninja', '-S', '.', '-B', 'build', `-DIREE_HOST_BIN_DIR=${shims}`]);
    const isStock = (i: number) => place.read(`build/module${i}.vmfb`).equals(place.read(`stock${i}.vmfb`));
    // Ninja prints failed commands and stderr.
    const untuned = await ninja([], { IREE_TUNED_ON_MISS: 'record' });
    expect(untuned.match(/^\[\d+\/8\] .*$/gm)).toHaveLength(8);
    expect(untuned.trimEnd().split('\n')).toHaveLength(9);
    expect(MODULES.map(isStock)).toEqual([true, true, true, true]);
    expect(await ninja()).toContain('no work to do');

    // A flag has the path of the folder, so the records hold for this folder.
    recordMisses(place);
    await ninja(['-t', 'clean']);
    expect((await ninja()).trimEnd().split('\n')).toHaveLength(9);
    expect(MODULES.map(isStock)).toEqual([false, false, false, false]);
    for (const i of MODULES) expect(place.read(`build/module${i}.txt`).toString()).toContain(`main${i}`);
  },
);

const script = `#!/bin/sh
set -e
iree-compile ${HOST.join(' ')} in.mlir > out.vmfb 2> log
iree-dump-module out.vmfb > dump
`;

const budgets = [
  ['without a budget the very bytes of stock', '0'],
  ['with one a program that was tuned', '300'],
] as const;
test.each(casesOfTier(budgets, 1))(
  'a shell script that redirects gets an empty log, and %s',
  { timeout: 240_000 },
  async (_, budget) => {
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
  },
);
