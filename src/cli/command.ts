// A command of `iree-tuned`: a command of commander with the options, the help and the output that commands share.
import { Command, InvalidArgumentError, Option } from 'commander';
import type { Shard } from '../populate/plan.ts';
import { STRATEGIES } from '../search/index.ts';
import type { Filter } from '../store/filter.ts';
import { readSettings, SettingsError, type Name } from '../settings/index.ts';
import { variableOf } from '../settings/settings.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import { packageRoot } from '../system/package-root.ts';
import { table } from '../report/table.ts';
import { page, sentences, warn } from './output.ts';

/** Command lines, each with its purpose. */
export type Examples = readonly (readonly [line: string, purpose: string])[];

const FILTERS = {
  workload: ['--workload <text>', 'only workloads whose key contains the text'],
  target: ['--for-target <text>', 'only targets whose key contains the text'],
  compiler: ['--with-compiler <text>', 'only compilers whose key contains the text, such as a version'],
  device: ['--on-device <text>', 'only devices whose key contains the text'],
} as const satisfies Record<keyof Filter, readonly [flags: string, description: string]>;

const PARTS = Object.keys(FILTERS) as readonly (keyof Filter)[];

export interface SearchOptions {
  readonly strategy: string;
  readonly trials?: number;
  readonly searchSpace?: string;
  readonly again?: boolean;
}

type Given = Readonly<Partial<Record<Name, string>>>;

export class CliCommand extends Command {
  lines: Examples = [];
  takesFlags = false;
  /** Flags of the compiler: the words after `--`. Set on the program when it parses. */
  compilerFlags: readonly string[] = [];

  constructor(name: string, description: string) {
    super(name);
    this.description(description)
      .exitOverride()
      .configureHelp({
        showGlobalOptions: true,
        styleTitle: (title) => page.paint('bold', title),
      })
      .configureOutput({
        outputError: (message) => {
          const isFlag = this.takesFlags && message.includes("unknown option '--iree-");
          const hint = `${isFlag ? 'compiler flags follow --; ' : ''}${this.path} --help lists the options`;
          warn(`${message.replace(/^error: /, '').trimEnd()}\n(${hint})`);
        },
      })
      .addHelpText('after', () => {
        const lines = this.lines.map(([line, purpose]) => `  # ${purpose}\n  ${line}`);
        return `\nExamples:\n${lines.join('\n')}`;
      });
  }

  /** Words that call the command, such as `iree-tuned db ls`. */
  get path(): string {
    return this.parent instanceof CliCommand ? `${this.parent.path} ${this.name()}` : this.name();
  }

  get flags(): readonly string[] {
    return this.parent instanceof CliCommand ? this.parent.flags : this.compilerFlags;
  }

  /** Accepts flags of the compiler after `--`; `words` are the other arguments in the line of usage. */
  withFlags(words: string): this {
    this.takesFlags = true;
    return this.usage(['[options]', words, '[-- compiler flags]'].filter((word) => word !== '').join(' '));
  }

  examples(...lines: Examples): this {
    this.lines = lines;
    return this;
  }

  json(description = 'print as JSON'): this {
    return this.option('--json', description);
  }

  output(description: string, file?: string): this {
    return this.option('-o, --output <file>', description, file);
  }

  budget(purpose: string, ifNotSet = 'IREE_TUNED_BUDGET, else 60'): this {
    return this.option('--budget <time>', `${purpose}: 90, 90s, 15m or 2h (default: ${ifNotSet})`);
  }

  sweep(operations: string, rhsConstant: 'no' | 'both'): this {
    return this.option('--op <names>', `operations of a sweep: ${operations} (default: matmul)`)
      .option(
        '--m <sizes>',
        'rows: 512, a list such as 256,512, or START:END:STEP such as 64:1024:64, without END',
      )
      .option('--n <sizes>', 'columns')
      .option('--k <sizes>', 'sizes of the reduction')
      .option('--batch <sizes>', 'batch sizes; matmul has none (default: 1)')
      .option(
        '--dtype <types>',
        'element types: f32,f16,..., or i8xi8xi32 for lhs, rhs and sums (default: f32)',
      )
      .option('--rhs-constant <choice>', `is the rhs a weight: yes, no or both (default: ${rhsConstant})`);
  }

  search(): this {
    return this.addOption(
      new Option('--strategy <name>', 'search strategy').choices(Object.keys(STRATEGIES)).default('guided'),
    )
      .option('--trials <count>', 'configurations to try per workload (default: 160)', wholeNumber)
      .option('--search-space <file>', 'JSON with the only values to try, such as {"vector_m": [4, 8]}')
      .option('--again', 'measure again where a record exists');
  }

  filters(...parts: readonly (keyof Filter)[]): this {
    for (const part of parts.length === 0 ? PARTS : parts) {
      const [flags, description] = FILTERS[part];
      this.option(flags, description);
    }
    return this;
  }

  /** @throws CommanderError for `--compiler` or `--device`, which would not filter */
  get filter(): Filter {
    for (const part of ['compiler', 'device'] as const) {
      const [flag] = FILTERS[part][0].split(' ');
      if (this.options.some(({ long }) => long === flag) && this.optsWithGlobals()[part] !== undefined)
        this.error(`error: --${part} does not filter ${this.path}: use ${flag!}`);
    }
    const values = this.opts<Readonly<Record<string, string | undefined>>>();
    const all = PARTS.map((part) => [part, values[new Option(FILTERS[part][0]).attributeName()]] as const);
    return Object.fromEntries(all.filter(([, text]) => text !== undefined));
  }

  /** The settings: first `extra`, then options. */
  settings(extra: Given = {}) {
    return readSettings(process.env, new Map(this.#given(extra)), '--');
  }

  /** Variables that give the settings of the options to a build. */
  variables(extra: Given): Readonly<Record<string, string>> {
    return Object.fromEntries(this.#given(extra).map(([name, value]) => [variableOf(name), value]));
  }

  /** With settings as `settings` reads them. @throws SettingsError for an invalid setting */
  surroundings(extra: Given = {}): Surroundings {
    const { settings, problems, refused } = this.settings(extra);
    if (problems.length > 0) throw new SettingsError(problems.join('\n'));
    for (const message of refused) warn(message);
    return { env: process.env, settings, root: packageRoot, cacheDirectory: settings.cache };
  }

  #given(extra: Given): [Name, string][] {
    const { db, compiler, device, team, budget } = this.optsWithGlobals<Given>();
    const given = Object.entries({ db, compiler, device, team, budget, ...extra });
    return given.filter((entry): entry is [Name, string] => entry[1] !== undefined);
  }

  /** Prints a list: as JSON with `--json`, else as a table, or as a sentence without rows. */
  printTable(
    value: unknown,
    header: readonly string[],
    rows: readonly (readonly string[])[],
    ifEmpty = '',
  ): void {
    this.print(value, () =>
      rows.length === 0 && ifEmpty !== '' ? sentences(ifEmpty) : table(header, rows, page),
    );
  }

  /** Prints a result: as JSON with `--json`, else as text. */
  print(value: unknown, text: () => string): void {
    console.log(this.opts<{ json?: boolean }>().json === true ? JSON.stringify(value, null, 2) : text());
  }
}

/** @throws InvalidArgumentError */
export function wholeNumber(text: string): number {
  const count = Number(text);
  if (Number.isSafeInteger(count) && count > 0) return count;
  throw new InvalidArgumentError('It must be a whole number of at least 1.');
}

/** @throws InvalidArgumentError */
export function shardOf(text: string): Shard {
  const [, number = 0, count = 0] = (/^(\d+)\/(\d+)$/.exec(text) ?? []).map(Number);
  if (number >= 1 && number <= count) return { number, count };
  throw new InvalidArgumentError('It must be one of 1/N to N/N, such as 3/10 for the third of ten shards.');
}

/** Collects the values of an option that may be given several times. */
export const several = (value: string, before: readonly string[] = []): readonly string[] => [
  ...before,
  value,
];
