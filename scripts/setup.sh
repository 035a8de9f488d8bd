#!/bin/sh
# Brings a checkout to where everything runs: packages, Node, bundles, compiler. Does only what is missing.
# Takes the version of another compiler to bring beside it, or --without-compiler, or --packages-only.
set -eu
cd "$(dirname "$0")/.."

# The lock file is copied beside the installed packages, so that a changed one is noticed.
if ! cmp -s package-lock.json node_modules/.installed-lock.json; then
  echo "Installing packages (npm ci) ..." >&2
  # Only these two have to run something: better-sqlite3 brings its binary, and would try to compile it all the same.
  # An older system Node only has to get through this; the `node` package brings the one that everything runs on.
  npm ci --ignore-scripts --no-audit --no-fund --loglevel=error >&2
  npm rebuild --loglevel=error node esbuild >&2
  cp package-lock.json node_modules/.installed-lock.json
fi
PATH=$PWD/node_modules/.bin:$PATH
export PATH

[ "${1:-}" != --packages-only ] || exit 0

node scripts/build.mjs

[ "${1:-}" != --without-compiler ] || exit 0

# Installs IREE $2 into the venv $1, or leaves nothing behind.
provision() {
  echo "Installing IREE $2 from PyPI into $1 ..." >&2
  if ! python3 -m venv "$1" ||
    ! "$1/bin/pip" install --quiet --disable-pip-version-check "iree-base-compiler==$2" "iree-base-runtime==$2" >&2; then
    rm -rf "$1"
    echo "setup: the IREE compiler could not be installed." >&2
    echo "setup: it takes Python 3.9 or newer with venv, and access to PyPI; or set IREE_TUNED_COMPILER to an iree-compile." >&2
    exit 1
  fi
}

has() {
  command -v "$1" >/dev/null 2>&1
}

# The venv stays inside the checkout; whoever has a compiler and a runtime keeps using those.
if [ -z "${IREE_TUNED_COMPILER:-}" ] && [ ! -x .venv/bin/iree-benchmark-module ]; then
  has iree-compile && has iree-benchmark-module || provision .venv 3.13.0
fi
# Another release beside it, for tests that are asked for.
if [ -n "${1:-}" ] && [ ! -x ".venv-$1/bin/iree-benchmark-module" ]; then
  provision ".venv-$1" "$1"
fi
