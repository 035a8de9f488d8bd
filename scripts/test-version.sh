#!/bin/sh
# Tests another release of IREE: `npm run test:version -- 3.12.0` installs it in its own venv, runs the tests about releases with it, and
# builds and runs the examples with a short tuning.
set -eu
cd "$(dirname "$0")/.."
if [ $# -ne 1 ]; then
  echo "usage: npm run test:version -- VERSION, such as 3.12.0" >&2
  exit 2
fi
sh scripts/setup.sh "$1"
PATH=$PWD/node_modules/.bin:$PATH
export PATH
IREE_TUNED_TEST_RELEASE=$1 vitest run test/scenarios/versions.test.ts
IREE_TUNED_COMPILER=$PWD/.venv-$1/bin/iree-compile IREE_TUNED_BUDGET=${IREE_TUNED_BUDGET:-10} \
  exec node --conditions=source scripts/start.ts
