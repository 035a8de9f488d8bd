// Tools with which a search takes a second, on a busy machine too, and always comes to the same: modules of candidates are
// not compiled, and what is measured of them is made up; so it is of whole programs, where that is wanted. Everything else
// is done by the real tools. For tests of what happens around measuring: who waits for whom, what is kept, what is left
// behind.
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
  /** Path: while there is such a file, nothing but the first batch of a search is measured. */
  readonly hold?: string;
  /** What becomes of whole programs, stock against tuned; when left out they are compiled and run by the real tools. */
  readonly programs?: SimulatedPrograms;
  /** Whether what the user compiles is compiled only as far as its dispatches are configured, for tests that look no further. */
  readonly isShort?: boolean;
  /** Whether no candidate compiles. */
  readonly isRefusing?: boolean;
  /** Whether nothing is taken over from what other tests have compiled. */
  readonly isForgetful?: boolean;
}

/** In ms: the first candidate of each batch is ten times as fast as the default, data tiling no faster than that. */
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

/** As many bytes as the function's result has, the same for every candidate. */
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
 * Writes them below `folder`.
 * @returns the compiler to set
 */
export function simulatedTools(
  folder: string,
  { hold = '', programs, isShort = false, isRefusing = false, isForgetful = false }: Simulation = {},
): string {
  const ofPrograms = (path: string, deed: (programs: SimulatedPrograms) => string) =>
    programs === undefined ? '' : `case ${path} in ${PROGRAMS}) ${deed(programs)} ;; esac`;
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
  */batch0.*) ;;
  ${CANDIDATES}) while [ -e '${hold}' ]; do sleep 0.05; done ;;
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
