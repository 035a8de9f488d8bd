// Simulated runs of whole programs: shell text for the scripted tools.
import { join } from 'node:path';

/** Paths of files that control the programs. Without the files, results are equal, and a tuned dispatch takes half of stock's time. */
export interface SimulatedPrograms {
  /** Patterns of `grep`: tuned dispatches with such names take twice stock's time. */
  readonly slower: string;
  /** Patterns of `grep`: tuned dispatches with such names make the results wrong. */
  readonly wrong: string;
  /** Shell text that runs before each program; `$module` ends in `stock.vmfb` or `tuned.vmfb`. */
  readonly hook: string;
}

export const simulatedPrograms = (folder: string): SimulatedPrograms => ({
  slower: join(folder, 'slower'),
  wrong: join(folder, 'wrong'),
  hook: join(folder, 'hook'),
});

/** Shell pattern of paths of whole programs that are compiled for a comparison. */
export const PROGRAMS = '*/work/verify-*';

/**
 * Shell text that compiles a program, and writes a file with a line for each dispatch: its name, and a checksum of its configured text.
 * @param isShort whether that file takes the place of the module
 */
export const compileProgram = (isShort: boolean): string => `
  dumps=$output.dumps
  mkdir -p "$dumps"
  input=/dev/null
  case " $* " in *' - '*) input=$output.input; cat >"$input" ;; esac
  "$real" "$@" --iree-hal-dump-executable-configurations-to="$dumps" --compile-to=executable-configurations <"$input" || exit
  for dump in "$dumps"/*.mlir; do
    sed -n 's/.*hal.executable.export public @\\([^ ]*\\) .*/\\1/p' "$dump" | tr '\\n' ' '
    cksum <"$dump"
  done >"$output.lines"
  ${isShort ? 'exec cp "$output.lines" "$output"' : 'exec "$real" "$@" <"$input"'}`;

const runHook = ({ hook }: SimulatedPrograms) => `[ ! -e '${hook}' ] || . '${hook}'`;

/** Shell functions: whether a line is of a tuned dispatch, and whether a file of patterns matches its name. */
const isTuned = `is_tuned() { case $module in */others/*) return 1 ;; esac; ! grep -qxF "$1" "\${module%/*}/stock.vmfb.lines"; }
  fits() { [ -e "$2" ] && echo "\${1%% *}" | grep -q -f "$2"; }`;

/** Shell text that reports times. Each dispatch of stock takes 1 ms. */
export const benchmarkProgram = (programs: SimulatedPrograms) => String.raw`
  ${runHook(programs)}
  ${isTuned}
  while read -r line; do
    if ! is_tuned "$line"; then ms=1; elif fits "$line" '${programs.slower}'; then ms=2; else ms=0.5; fi
    echo "$ms $line"
  done <"$module.lines" | awk -v "statistics=$statistics" '
    function row(name, ms, more) {
      printf "%s{\"name\":\"BM_main/%s\",\"run_type\":\"iteration\",", comma, name
      printf "\"real_time\":%s,\"time_unit\":\"ms\"%s}", ms, more
      comma = ","
    }
    { times[NR] = $1; names[NR] = $2; sum += $1 }
    END {
      printf "{\"benchmarks\":["
      row("real_time", sum, "")
      if (statistics) for (i = 1; i <= NR; i++) row(names[i], times[i], ",\"calls\":1,\"percent\":50")
      print "]}"
    }'
  exit`;

export const runProgram = (programs: SimulatedPrograms) => `
  ${runHook(programs)}
  ${isTuned}
  result='a result'
  while read -r line; do
    if is_tuned "$line" && fits "$line" '${programs.wrong}'; then result='another!'; fi
  done <"$module.lines"
  for argument; do case $argument in --output=@*) printf %s "$result" >"\${argument#*@}" ;; esac; done
  exit`;
