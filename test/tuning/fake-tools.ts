// Tools that measure nothing, in no time: for tests of what the tuner makes of their answers.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Toolchain } from '../../src/measure/toolchain.ts';
import { Semaphore } from '../../src/system/semaphore.ts';
import { describeDevice } from '../../src/backend/llvm-cpu/cpu.ts';

/** What the tools do before they do what is asked, as shell text. */
interface Deeds {
  readonly compiler?: string;
  /** It may set `factor`, so many times as long everything takes. */
  readonly benchmarkModule?: string;
  readonly runModule?: string;
  /** After the program's output was written to `$output`. */
  readonly afterRun?: string;
}

/** Every candidate compiles, takes 1 ms where the default takes 10 ms, and computes the same. */
export function fakeTools(workDirectory: string, deeds: Deeds = {}): Toolchain {
  const tool = (name: string, text: string) => {
    const path = join(workDirectory, name);
    writeFileSync(path, `#!/bin/sh\n${text}\n`, { mode: 0o755 });
    return path;
  };
  return {
    compiler: tool(
      'iree-compile',
      `${deeds.compiler ?? ''}
for argument; do source=$before; before=$option; option=$argument; done
cp "$source" "$argument"`,
    ),
    benchmarkModule: tool(
      'iree-benchmark-module',
      `${deeds.benchmarkModule ?? ''}
only='.*'
for argument; do case $argument in
  --module=*) module=\${argument#*=} ;;
  --benchmark_filter=*) only=$(printf %s "$argument" | sed 's/.*BM_(\\(.*\\))\\/$/\\1/') ;;
esac; done
sed -n 's/^func.func @\\([a-z0-9]*\\)(.*/\\1/p' "$module" | grep -Ex "$only" | awk -v factor="\${factor:-1}" '
  BEGIN { printf "{\\"benchmarks\\":[" }
  { ms = ($1 ~ /^(stock|again)$/ ? 10 : 1) * factor
    printf "%s{\\"name\\":\\"BM_%s/x\\",\\"run_type\\":\\"iteration\\",\\"real_time\\":%d,\\"time_unit\\":\\"ms\\"}", (NR > 1 ? "," : ""), $1, ms }
  END { print "]}" }'`,
    ),
    runModule: tool(
      'iree-run-module',
      `${deeds.runModule ?? ''}
for argument; do case $argument in --output=@*) output=\${argument#*@} ;; esac; done
printf '12345678' >"$output"
${deeds.afterRun ?? ''}`,
    ),
    compiles: new Semaphore(4),
    release: [3, 13, 0],
    flags: [],
    device: describeDevice('local-sync'),
    workDirectory,
    commonDirectory: workDirectory,
    signal: new AbortController().signal,
  };
}
