// Planted faults and honest differences: how often the comparison of programs says no, and whether it is right.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { basename, join } from 'node:path';
import { backendNamed } from '../src/backend/index.ts';
import { describeDevice } from '../src/backend/llvm-cpu/cpu.ts';
import { findMeasuringTools } from '../src/compiler/find.ts';
import { programSignature } from '../src/input/signature.ts';
import { writeInputs } from '../src/program/inputs.ts';
import { comparisonWith, type Compared } from '../src/program/results.ts';
import type { StockContest } from '../src/program/verify.ts';
import { Semaphore } from '../src/system/semaphore.ts';
import { BenchError, jsonFile, readArguments, run, say, wholeNumber, writeJson } from './shared/arguments.ts';
import { aboutRun, HOST_FLAGS, openWorkplace, root, type Workplace } from './shared/workplace.ts';
import { modelFolder, runPython } from './shared/exporter.ts';
import { openPython } from './shared/python.ts';
import { compileStock } from './shared/stock-and-tuned.ts';
import { FAULTS, type Plant } from './faults/builder.ts';
import { PROGRAMS, programText } from './faults/programs.ts';

const USAGE = `usage: npm run bench:faults -- [PROGRAM...] [--quantized] [--draws N] [--json FILE]

  PROGRAM  a part of the names of programs; without it all programs
  --quantized  quantized ResNet18 and MobileNetV2 instead, with a wrong channel as the fault
  --draws  random inputs for the honest builds of each program (default 2)
  --json   also write all values to FILE`;

/** Honest builds. Their results may differ by rounding alone. */
const HONEST: Readonly<Record<string, readonly string[]>> = {
  'opt level 1': ['--iree-opt-level=O1'],
  'opt level 2': ['--iree-opt-level=O2'],
  'opt level 3': ['--iree-opt-level=O3'],
  'data tiling': ['--iree-opt-data-tiling'],
  'data tiling, ukernels': ['--iree-opt-data-tiling', '--iree-llvmcpu-enable-ukernels=all'],
  'vectors of 32 bytes': ['--iree-llvmcpu-target-vector-width-in-bytes=32'],
  AVX2: ['--iree-llvmcpu-target-cpu=haswell'],
  'AVX-512 of 2017': ['--iree-llvmcpu-target-cpu=x86-64-v4'],
  'no distribution': ['--iree-llvmcpu-disable-distribution'],
  'small tiles': ['--iree-llvmcpu-matmul-tile-bytes=2048'],
  'no fusion of producers': ['--iree-dispatch-creation-enable-aggressive-fusion=true', '--iree-opt-level=O3'],
  im2col: ['--iree-global-opt-use-im2col-for-convs'],
};

const CALL_SECONDS = 60;

/** A program, and its text with each fault. */
interface Subject {
  readonly name: string;
  readonly text: string;
  readonly faults: readonly { readonly fault: string; readonly at: Plant['at']; readonly text: string }[];
}

interface Row {
  readonly program: string;
  readonly variant: string;
  readonly at: Plant['at'] | 'honest';
  readonly equal: boolean | null;
  /** The largest difference, as a multiple of the allowed one. */
  readonly times: number;
  readonly reason: string | null;
}

async function main(): Promise<void> {
  const args = readArguments(['draws', 'json'], USAGE, undefined, { switches: ['quantized'] });
  const draws = wholeNumber(args, 'draws', 2);
  const json = jsonFile(args);
  const place = await openWorkplace();
  const about = aboutRun('faults', 'local-sync', { iree: place.description });
  const isNamed = ({ name }: Subject) =>
    args.positionals.length === 0 || args.positionals.some((part) => name.includes(part));
  const subjects = args.switches.has('quantized')
    ? await quantizedSubjects(place)
    : Object.keys(PROGRAMS).map(subjectOf);
  const rows: Row[] = [];
  for (const subject of subjects.filter(isNamed)) {
    const { name } = subject;
    const found = await rowsOf(subject, draws, place);
    rows.push(...found);
    for (const row of found)
      if (row.at === 'honest' ? row.equal !== true : row.equal !== false)
        say(
          `  ${row.program}: ${row.variant} (${row.at}): ${String(row.equal)} ${row.times.toFixed(2)} ${row.reason ?? ''}`,
        );
    const honest = found.filter(({ at }) => at === 'honest');
    const planted = found.filter(({ at }) => at !== 'honest');
    const caught = planted.filter(({ equal }) => equal === false).length;
    const accepted = honest.filter(({ equal }) => equal === true).length;
    console.log(
      `${name}: ${caught} of ${planted.length} faults refused, ${accepted} of ${honest.length} honest builds accepted, ${Math.max(...honest.map(({ times }) => times)).toFixed(2)} of the allowed difference at most`,
    );
  }
  writeJson(json, { ...about, rows });
}

function subjectOf(name: string): Subject {
  const text = programText(name, null);
  const plants = (['inside', 'end'] as const).flatMap((at) => FAULTS.map((fault): Plant => ({ fault, at })));
  const faults = plants.map((plant) => ({ ...plant, text: programText(name, plant) }));
  return { name, text, faults: faults.filter((one) => one.text !== text) };
}

/** Networks that ONNX Runtime quantized, and the same with a wrong channel. */
async function quantizedSubjects(place: Workplace): Promise<Subject[]> {
  const requirements = join(root, 'bench', 'faults', 'requirements.txt');
  const python = await openPython('.venv-onnx', requirements, 'onnx and ONNX Runtime');
  const script = join(root, 'bench', 'faults', 'quantized_models.py');
  const folder = modelFolder('quantized', [script, requirements]);
  const names = () => readdirSync(folder).filter((file) => /^\w+(?:-\w+)?\.onnx$/.test(file));
  if (names().length === 0) await runPython(python, [script, folder], 'quantized_models.py failed');
  const imported = async (file: string) => {
    const [from, to] = [join(folder, file), join(place.folder, `${basename(file, '.onnx')}.mlir`)];
    await runPython(
      python,
      ['-m', 'iree.compiler.tools.import_onnx', from, '-o', to],
      `${from} is not imported`,
    );
    return readFileSync(to, 'utf8');
  };
  const subjects: Subject[] = [];
  for (const file of names().filter((one) => !one.includes('-'))) {
    const name = basename(file, '.onnx');
    const faulty = names().filter((one) => one.startsWith(`${name}-`) && one !== `${name}-f32.onnx`);
    const faults: Subject['faults'][number][] = [];
    for (const one of faulty)
      faults.push({ fault: basename(one, '.onnx'), at: 'inside', text: await imported(one) });
    subjects.push({ name: `${name}, quantized`, text: await imported(file), faults });
  }
  return subjects;
}

async function rowsOf(
  { name: program, text, faults }: Subject,
  draws: number,
  place: Workplace,
): Promise<Row[]> {
  const folder = join(place.folder, program.replace(/\W+/g, '-'));
  mkdirSync(folder, { recursive: true });
  const tools = findMeasuringTools(place.compiler, process.env, {
    root,
    cacheDirectory: place.cacheDirectory,
  });
  if (tools === null) throw new BenchError("IREE's runtime is missing: pip install iree-base-runtime");
  const compile = (name: string, source: string, flags: readonly string[]) =>
    compiled(place, folder, name, source, flags);
  const stock = await compile('stock', text, []);
  if (stock === null) throw new BenchError(`${program} does not compile`);
  const others = backendNamed('llvm-cpu')!.flags(process.arch).otherRounding;
  const otherBuilds = await all(others.map((flags, i) => () => compile(`other${i}`, text, flags)));
  const [called] = programSignature(Buffer.from(text), (type) => type);
  const contestAt = (seed: number): StockContest => {
    const own = join(folder, `draw${seed}`);
    mkdirSync(own, { recursive: true });
    return {
      ...{ stock, function: called!, inputs: writeInputs(called!, own, seed), isRandom: true, tools },
      ...{ device: describeDevice('local-sync'), folder: own },
      otherBuilds: () => Promise.resolve(otherBuilds.filter((one) => one !== null)),
    };
  };
  const faulty = await all(
    faults.map((plant, i) => async () => ({ plant, module: await compile(`fault${i}`, plant.text, []) })),
  );
  const honest = await all(
    Object.entries(HONEST).map(([variant, flags], i) => async () => ({
      variant,
      module: await compile(`honest${i}`, text, flags),
    })),
  );
  const rows: Row[] = [];
  for (let draw = 0; draw < Math.max(1, draws); draw++) {
    const compare = comparisonWith(contestAt(draw));
    const rowOf = (variant: string, at: Row['at'], { equal, times, reason }: Compared): Row => ({
      program,
      variant,
      at,
      equal,
      times,
      reason,
    });
    if (draw === 0)
      for (const { plant, module } of faulty) {
        if (module === null) say(`  ${program}: ${plant.fault} (${plant.at}) does not compile`);
        else rows.push(rowOf(plant.fault, plant.at, await compare(module, CALL_SECONDS)));
      }
    for (const { variant, module } of honest)
      if (module !== null) rows.push(rowOf(variant, 'honest', await compare(module, CALL_SECONDS)));
  }
  return rows;
}

/** Path of the compiled program; null if it does not compile. */
async function compiled(
  place: Workplace,
  folder: string,
  name: string,
  text: string,
  flags: readonly string[],
): Promise<string | null> {
  const [source, module] = [join(folder, `${name}.mlir`), join(folder, `${name}.vmfb`)];
  writeFileSync(source, text);
  const { error } = await compileStock(source, module, [...HOST_FLAGS, ...flags], { place });
  if (error === null) return module;
  if (name === 'stock' || name.startsWith('fault')) say(error);
  return null;
}

/** Results of tasks in order, as many at once as there are processors. */
function all<T>(tasks: readonly (() => Promise<T>)[]): Promise<T[]> {
  const slots = new Semaphore(availableParallelism());
  return Promise.all(tasks.map((task) => slots.run(task)));
}

await run('bench:faults', main);
