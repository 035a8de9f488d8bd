#!/bin/sh
# Sets a checkout up: packages, Node, bundles, compiler. It installs only missing parts.
# Arguments: a version of another compiler to install as well, or --without-compiler, or --packages-only.
set -eu
cd "$(dirname "$0")/.."

# A copy of the lock file beside the installed packages detects changes.
if ! cmp -s package-lock.json node_modules/.installed-lock.json; then
  echo "Installing packages (npm ci) ..." >&2
  # Only `node` and `esbuild` need install scripts. better-sqlite3 includes its binary, and its script would compile it.
  # An older system Node suffices here. The package `node` installs the Node for everything else.
  npm ci --ignore-scripts --no-audit --no-fund --loglevel=error >&2
  npm rebuild --loglevel=error node esbuild >&2
  cp package-lock.json node_modules/.installed-lock.json
fi
PATH=$PWD/node_modules/.bin:$PATH
export PATH

[ "${1:-}" != --packages-only ] || exit 0

node scripts/build.mjs

[ "${1:-}" != --without-compiler ] || exit 0

# Installs IREE $2 into the venv $1. Removes the venv after a failure.
provision() {
  echo "Installing IREE $2 from PyPI into $1 ..." >&2
  if ! python3 -m venv "$1" ||
    ! "$1/bin/pip" install --quiet --disable-pip-version-check "iree-base-compiler==$2" "iree-base-runtime==$2" >&2; then
    rm -rf "$1"
    echo "setup: the IREE compiler could not be installed." >&2
    echo "setup: install Python 3.9 or newer with venv, and allow access to PyPI; or set IREE_TUNED_COMPILER to an iree-compile." >&2
    exit 1
  fi
}

has() {
  command -v "$1" >/dev/null 2>&1
}

# An installed compiler with a runtime needs no venv.
if [ -z "${IREE_TUNED_COMPILER:-}" ] && [ ! -x .venv/bin/iree-benchmark-module ]; then
  has iree-compile && has iree-benchmark-module || provision .venv 3.13.0
fi
# Another release for tests.
if [ -n "${1:-}" ] && [ ! -x ".venv-$1/bin/iree-benchmark-module" ]; then
  provision ".venv-$1" "$1"
fi
