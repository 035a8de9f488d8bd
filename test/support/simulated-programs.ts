// Whole programs that are compared and never run, for simulated tools: shell text for each of them.
import { join } from 'node:path';

/**
 * Files that say what becomes of programs. Without them all give equal results, and a dispatch takes half as long as stock's
 * where it is tuned.
 */
export interface SimulatedPrograms {
  /** Patterns of `grep`: tuned dispatches with such names take twice as long as stock's. */
  readonly slower: string;
  /** The same: tuned dispatches with such names make the results wrong. */
  readonly wrong: string;
  /** Shell text that is run with each program; `$module` ends in `stock.vmfb` or `tuned.vmfb`. */
  readonly deeds: string;
}

export const simulatedPrograms = (folder: string): SimulatedPrograms => ({
  slower: join(folder, 'slower'),
  wrong: join(folder, 'wrong'),
  deeds: join(folder, 'deeds'),
});

/** Shell pattern of a module of a whole program that is compiled to compare it. */
export const PROGRAMS = '*/work/verify-*';

/**
 * Compiles one, and notes beside its module a line for each dispatch: the name, and what tells two configurations apart.
 * @param isShort whether that is all, and takes the module's place
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

const deed = ({ deeds }: SimulatedPrograms) => `[ ! -e '${deeds}' ] || . '${deeds}'`;

/** Whether a line of a module is of a tuned dispatch that a file has a pattern for. */
const isTuned = `is_tuned() { ! grep -qxF "$1" "\${module%/*}/stock.vmfb.lines"; }
  fits() { [ -e "$2" ] && echo "\${1%% *}" | grep -q -f "$2"; }`;

/** In ms: each dispatch of stock takes 1. */
export const benchmarkProgram = (programs: SimulatedPrograms) => String.raw`
  ${deed(programs)}
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
  ${deed(programs)}
  ${isTuned}
  result='a result'
  while read -r line; do
    if is_tuned "$line" && fits "$line" '${programs.wrong}'; then result='another!'; fi
  done <"$module.lines"
  for argument; do case $argument in --output=@*) printf %s "$result" >"\${argument#*@}" ;; esac; done
  exit`;
