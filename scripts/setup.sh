#!/bin/sh
# Brings a checkout to where everything runs: packages, Node, bundles, compiler. Does only what is missing.
set -eu
cd "$(dirname "$0")/.."

# The lock file is copied beside the installed packages, so that a changed one is noticed.
if ! cmp -s package-lock.json node_modules/.installed-lock.json; then
  echo "Installing packages (npm ci) ..." >&2
  # An older system Node only has to get through this; the `node` package brings the one that everything runs on.
  npm ci --no-audit --no-fund --loglevel=error >&2
  cp package-lock.json node_modules/.installed-lock.json
fi
PATH=$PWD/node_modules/.bin:$PATH
export PATH

node scripts/build.mjs

# pip wants a Python that IREE has wheels for; the venv stays inside the checkout.
if [ -z "${IREE_TUNED_COMPILER:-}" ] && [ ! -x .venv/bin/iree-benchmark-module ]; then
  if command -v iree-compile >/dev/null 2>&1 && command -v iree-benchmark-module >/dev/null 2>&1; then
    :
  else
    echo "Installing IREE's compiler and runtime from PyPI into .venv ..." >&2
    if ! python3 -m venv .venv || ! .venv/bin/pip install --quiet --disable-pip-version-check -r requirements.txt >&2; then
      rm -rf .venv
      echo "setup: the IREE compiler could not be installed." >&2
      echo "setup: it takes Python 3.9 or newer with venv, and access to PyPI; or set IREE_TUNED_COMPILER to an iree-compile." >&2
      exit 1
    fi
  fi
fi
