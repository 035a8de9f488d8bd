# See remembering-compiler.ts, which sets `real`, the compiler, `kept`, a folder, and `place`, a pattern of `sed` and `grep`.
set -f
IFS='
'
command= files= output= dumps= before=
for argument; do
  if [ "$before" = -o ]; then
    case $output$argument in - | -o* | /dev/*) exec "$real" "$@" ;; esac
    [ -z "$output" ] || exec "$real" "$@"
    output=$argument before=
    continue
  fi
  before=$argument value=${argument#*=}
  case $argument in
    -o) ;;
    --compile-to=input | --compile-to=preprocessing) exec "$real" "$@" ;; # As fast as this.
    --compile-to=* | --compile-from=* | --mlir-elide-* | --mlir-print-debuginfo | --iree-llvmcpu-target-* | \
      --iree-hal-target-* | --iree-hal-local-target-* | --iree-hal-link-executables=* | \
      --iree-input-* | --iree-opt-* | --iree-global-opt-*) ;;
    --iree-hal-dump-executable-configurations-to=* | --iree-hal-dump-executable-sources-to=*)
      { [ -z "$dumps" ] && [ -z "$(ls -A "$value" 2>/dev/null)" ]; } || exec "$real" "$@"
      dumps=$value argument=${argument%%=*}
      ;;
    *)
      case $argument in
        --iree-codegen-tuning-spec-path=* | --iree-preprocessing-transform-spec-filename=* | [!@-]*.mlir) ;;
        --iree-hal-substitute-executable-source=*) value=${value#*=} ;;
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
  command="$command$argument
"
done
{ [ -n "$files" ] && [ "$before" != -o ]; } || exec "$real" "$@"

digest=$({
  printf %s "$command" | sed "s|$place|@|g; s|/work/\\([a-z]*\\)-[A-Za-z0-9-]*|/work/\\1|g"
  cat $files
} | md5sum)
known=$kept/${digest%% *}
if [ ! -d "$known" ]; then
  made=$known.$$
  rm -rf "$made"
  mkdir "$made"
  "$real" "$@" >"$made/stdout" 2>"$made/stderr"
  code=$?
  cat "$made/stdout"
  cat "$made/stderr" >&2
  if [ $code = 0 ] && { [ -z "$output" ] || cp "$output" "$made/output"; } &&
    { [ -z "$dumps" ] || cp -r "$dumps" "$made/dumps"; } && ! grep -rq "$place" "$made" && [ ! -d "$known" ]; then
    mv "$made" "$known"
  else
    rm -rf "$made"
  fi
  [ $code -le 128 ] || kill -$((code - 128)) $$
  exit $code
fi
[ -z "$output" ] || cp "$known/output" "$output" || exec "$real" "$@"
[ -z "$dumps" ] || { mkdir -p "$dumps" && cp -r "$known/dumps/." "$dumps"; } || exec "$real" "$@"
cat "$known/stdout"
[ ! -s "$known/stderr" ] || cat "$known/stderr" >&2
