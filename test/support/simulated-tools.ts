// Simulated tools for tests about everything but measuring. A search takes a second and always gives the same result: candidates are not
// compiled, and their times are scripted. So are those of whole programs with the option `programs`. The real tools do the rest.
import { GUARD_BYTES } from '../../src/workload/fillers.ts';
import { UNWRITTEN_BYTE } from '../../src/workload/guarded.ts';
import { CANDIDATE_ARGUMENTS, CANDIDATES, installScripts } from './scripts.ts';
import { compiler, runtimeTool } from './real-tools.ts';
import { rememberingCompiler } from './remembering-compiler.ts';
import {
  benchmarkProgram,
  compileProgram,
  PROGRAMS,
  runProgram,
  type SimulatedPrograms,
} from './simulated-programs.ts';

export interface Simulation {
  /** Path of a file. While the file exists, all batches of a search except the first wait. */
  readonly hold?: string;
  /** Simulates comparisons of whole programs; default: the real tools compile and run them. */
  readonly programs?: SimulatedPrograms;
  /** Whether the user's compiles stop when dispatches are configured. */
  readonly isShort?: boolean;
  /** Whether no candidate compiles. */
  readonly isRefusing?: boolean;
  /** Whether to use the real compiler instead of the remembering one. */
  readonly isForgetful?: boolean;
}

/** Times in ms: the first candidate of each batch is ten times as fast as the default, and data tiling is as fast as the default. */
const TIMES = `
  match($0, /^func\\.func @[a-z]+[0-9]*(_at[0-9]+)?\\(/) {
    name = substr($0, RSTART + 11, RLENGTH - 12)
    names[++count] = name
    candidate = name
    sub(/_at[0-9]+$/, "", candidate)
    time[name] = candidate ~ /^[cf][0-9]+$/ ? 0.01 + substr(candidate, 2) / 1000 : 0.1
  }
  /iree\\.opt\\.data_tiling/ { time[name] = 0.1 }
  END {
    printf "{\\"benchmarks\\":["
    for (i = 1; i <= count; i++) {
      if (filter != "" && ("BM_" names[i] "/") !~ filter) continue
      for (n = 0; n < repetitions; n++) {
        printf "%s{\\"name\\":\\"BM_%s/real_time\\",\\"run_type\\":\\"iteration\\",", comma, names[i]
        printf "\\"real_time\\":%s,\\"time_unit\\":\\"ms\\"}", time[names[i]]
        comma = ","
      }
    }
    print "]}"
  }`;

/** Prints the result of a function: bytes of its size, the same for every candidate. */
const RESULT = `
  index($0, "func.func @" name "() -> tensor<") == 1 {
    found = 1
    type = $0
    sub(/.*tensor</, "", type)
    sub(/>.*/, "", type)
    count = split(type, parts, "x")
    bytes = substr(parts[count], match(parts[count], /[0-9]/)) / 8
    for (i = 1; i < count; i++) bytes *= parts[i] == "?" ? 1 : parts[i]
    for (i = 0; i < bytes; i++) printf "%s", substr("a result", i % 7 + 1, 1)
  }
  END { exit !found }`;

/**
 * Writes the tools into `folder`.
 * @returns the path of the compiler
 */
export function simulatedTools(
  folder: string,
  { hold = '', programs, isShort = false, isRefusing = false, isForgetful = false }: Simulation = {},
): string {
  const ofPrograms = (path: string, text: (programs: SimulatedPrograms) => string) =>
    programs === undefined ? '' : `case ${path} in ${PROGRAMS}) ${text(programs)} ;; esac`;
  return installScripts(folder, {
    compile: `real='${isForgetful ? compiler.executable : rememberingCompiler}'
${CANDIDATE_ARGUMENTS}
case $source in ${CANDIDATES}) ${isRefusing ? 'exit 1' : 'exec cp "$source" "$output"'} ;; esac
${ofPrograms('$output', () => compileProgram(isShort))}
${isShort ? `case $output in *.vmfb) set -- "$@" --compile-to=executable-configurations ;; esac` : ''}
exec "$real" "$@"`,
    benchmark: `for argument; do
  case $argument in
    --module=*) module=\${argument#*=} ;;
    --benchmark_repetitions=*) repetitions=\${argument#*=} ;;
    --benchmark_filter=*) filter=\${argument#*=} ;;
    --dispatch_statistics=*) statistics=1 ;;
  esac
done
${ofPrograms('$module', benchmarkProgram)}
case $module in
  ${CANDIDATES})
    # All modules of the first batch are compiled before one of them runs.
    first=\${module%/*}/first
    [ -e "$first" ] || echo "\${module%/*}"/* >"$first"
    case $(cat "$first") in *"$module"*) ;; *) while [ -e '${hold}' ]; do sleep 0.05; done ;; esac ;;
  *) exec '${runtimeTool('iree-benchmark-module')}' "$@" ;;
esac
exec awk -v "repetitions=$repetitions" -v "filter=$filter" '${TIMES}' "$module"`,
    run: `for argument; do
  case $argument in
    --module=*) module=\${argument#*=} ;;
    --function=*) name=\${argument#*=} ;;
    --output=@*) output=\${argument#*@} ;;
  esac
done
${ofPrograms('$module', runProgram)}
case $module in ${CANDIDATES}) ;; *) exec '${runtimeTool('iree-run-module')}' "$@" ;; esac
result() { awk -v "name=\${name%_guarded}" '${RESULT}' "$module"; }
guard() { head -c ${GUARD_BYTES} /dev/zero | tr '\\0' '\\${UNWRITTEN_BYTE.toString(8)}'; }
case $name in *_guarded) { guard && result && guard; } >"$output" ;; *) result >"$output" ;; esac`,
  });
}
