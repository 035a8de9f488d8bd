# A compiler that compiles the same thing once; for everything else it becomes the real one. See remembering-compiler.ts, which
# sets `real`, the compiler; `kept`, the folder of what it has compiled; `names`, a regular expression of names that
# differ from run to run; and `sum`, a program that prints a digest.
set -f
IFS='
'
words= files= output= dumps= isInput= before=
for word; do
  case $before in -o | --o) output=$word before= && continue ;; esac
  before=$word value=${word#*=}
  case $word in
    -o | --o | -o=* | --o=*) [ "$value" = "$word" ] || output=$value before= && continue ;;
    -) isInput=1 ;;
    --compile-to=input | --compile-to=preprocessing) exec "$real" "$@" ;; # As fast as this.
    --iree-opt-*parameter*) exec "$real" "$@" ;;                         # These read and write archives.
    --compile-to=* | --compile-from=* | --output-format=* | --verify=* | --split-input-file | --mlir-elide-* | \
      --mlir-print-debuginfo | --mlir-print-op-on-diagnostic=* | --iree-llvmcpu-target-* | \
      --iree-llvmcpu-distribution-size=* | --iree-llvmcpu-enable-* | --iree-llvmcpu-debug-symbols=* | \
      --iree-llvmcpu-embedded-linker-path=* | \
      --emit-mlir-bytecode | --iree-vulkan-target=* | --iree-hal-benchmark-dispatch-repeat-count=* | \
      --iree-hal-target-* | --iree-hal-local-target-* | --iree-hal-link-executables=* | --iree-input-* | \
      --iree-opt-* | --iree-global-opt-* | --iree-dispatch-creation-* | --iree-vm-*) ;;
    --iree-hal-dump-executable-configurations-to=* | --iree-hal-dump-executable-sources-to=*)
      dumps="$dumps$value
" word=${word%%=*}
      ;;
    *)
      case $word in
        --iree-codegen-tuning-spec-path=* | --iree-preprocessing-transform-spec-filename=* | [!@-]*) ;;
        --iree-hal-substitute-executable-source=* | --iree-hal-substitute-executable-configuration=*)
          value=${value#*=}
          ;;
        --iree-preprocessing-pass-pipeline=*library-file-name=*)
          value=${value#*library-file-name=\"}
          value=${value%%\"*}
          ;;
        *) exec "$real" "$@" ;;
      esac
      [ -f "$value" ] || exec "$real" "$@"
      files="$files$value
"
      ;;
  esac
  words="$words$word
"
done
case $output in -* | /dev/*) exec "$real" "$@" ;; esac
case $before in -o | --o) exec "$real" "$@" ;; esac
[ -n "$files$isInput" ] || exec "$real" "$@"

made=$kept/new.$$
input=/dev/null
if [ -n "$isInput" ]; then
  input=$made.input
  cat >"$input"
fi
# All that decides what is made, through sed. Which file the output goes to makes no difference, but whether there is one does.
# It ends its subshell. Starting processes is most of the cost of an answer, so the script starts few.
asked() {
  LC_ALL=C exec sed -E "$1" - "$input" $files <<END
${output:+-o }${words%?}
END
}
digest=$(asked "s#$names#@#g" | $sum)
entry=$kept/${digest%% *}

# Names of this run, in their order and with repetitions: in results they stand for those of the run that compiled.
namesHere() { asked '' | LC_ALL=C grep -Eoa "$names"; }

# Prints the file $1 with the names of this run.
give() { if [ -z "$renames" ]; then cat "$1"; else LC_ALL=C sed "$renames" "$1"; fi; }

# Fills the folders of dumps; what else is in them stays, as the compiler leaves it.
giveDumps() {
  at=0
  for dump in $dumps; do
    at=$((at + 1))
    [ -d "$folder/dump$at" ] || continue
    [ -d "$dump" ] || mkdir -p "$dump"
    set +f
    set -- "$folder/dump$at"/*
    set -f
    [ -f "$1" ] || continue
    if [ -z "$renames" ]; then cp "$@" "$dump" && continue; fi
    for file; do give "$file" >"$dump/${file##*/}"; done
  done
}

if read -r folder 2>/dev/null <"$entry"; then
  # Once a day suffices for the removal of the least recently used.
  [ "$entry" -nt "$kept/../today" ] || touch "$entry"
  read -r code <"$folder/code"
  renames=
  if [ -f "$folder/names" ]; then
    # Bytes can only be exchanged for as many.
    renames=$(namesHere | awk 'NR == FNR { old[NR] = $0; count = NR; next }
      seen[$0]++ { next }
      length(old[++here]) != length($0) { differs = 1 }
      old[here] != $0 { printf "s#%s#%s#g\n", old[here], $0 }
      END { exit differs || here != count }' "$folder/names" -) || folder=
  fi
  if [ -n "$folder" ]; then
    [ -z "$isInput" ] || rm -f "$made.input"
    if [ $code != 0 ]; then
      [ -z "$output" ] || rm -f "$output"
    elif [ -n "$output" ]; then
      give "$folder/output" >"$output" || exec "$real" "$@"
    fi
    giveDumps
    if [ -s "$folder/stdout" ]; then give "$folder/stdout"; fi
    if [ -s "$folder/stderr" ]; then give "$folder/stderr" >&2; fi
    exit "$code"
  fi
fi

folder=$(mktemp -d "$kept/new.XXXXXX") || exec "$real" "$@" <"$input"
at=0
for word; do
  shift
  case $word in
    --iree-hal-dump-executable-configurations-to=* | --iree-hal-dump-executable-sources-to=*)
      at=$((at + 1))
      word=${word%%=*}=$folder/dump$at
      ;;
  esac
  set -- "$@" "$word"
done
"$real" "$@" >"$folder/stdout" 2>"$folder/stderr" <"$input"
code=$?
renames=
giveDumps
cat "$folder/stdout"
cat "$folder/stderr" >&2
# Kept only where no other name of this run is in the result. A full disk is no property of the command.
namesHere | awk '!seen[$0]++' >"$made"
if [ $code -le 1 ] && ! grep -q 'No space left' "$folder/stderr" && { [ $code = 1 ] || [ -z "$output" ] || cp "$output" "$folder/output"; } &&
  ! grep -rhoEa "$names" "$folder" | grep -vxqFf "$made"; then
  echo $code >"$folder/code"
  if grep -rqE "$names" "$folder"; then cp "$made" "$folder/names"; fi
  mv "$folder" "$entry.${folder##*.}"
  echo "$entry.${folder##*.}" >"$made"
  mv "$made" "$entry"
fi
rm -rf "$folder" "$made" "$made.input"
[ $code -le 128 ] || kill -$((code - 128)) $$
exit $code
