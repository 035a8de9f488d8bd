// `npm run build:npm`: writes the package for npm to npm-package/.
import { join } from 'node:path';
import { root } from './files.ts';
import { buildNpmPackage } from './npm-package.ts';

console.log(buildNpmPackage(join(root, 'npm-package')));
