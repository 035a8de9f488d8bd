// A copy of this package that a test may damage.
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryDirectory } from './folders.ts';
import { root } from './real-tools.ts';

export class Installation {
  readonly folder = temporaryDirectory();
  readonly launcher = join(this.folder, 'bin', 'iree-compile-tuned');

  /** Copies the launchers and the build, and links the installed packages. */
  constructor() {
    cpSync(join(root, 'bin'), join(this.folder, 'bin'), { recursive: true });
    cpSync(join(root, 'db'), join(this.folder, 'db'), { recursive: true });
    cpSync(join(root, 'package.json'), join(this.folder, 'package.json'));
    mkdirSync(join(this.folder, 'dist'));
    cpSync(join(root, 'dist/current/'), join(this.folder, 'dist/build'), { recursive: true });
    symlinkSync('build', join(this.folder, 'dist/current'));
    mkdirSync(join(this.folder, 'node_modules'));
    for (const name of readdirSync(join(root, 'node_modules')))
      symlinkSync(join(root, 'node_modules', name), join(this.folder, 'node_modules', name));
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  /** Replaces the body of a function in a bundle. @throws Error unless the bundle has exactly one function of this name */
  damage(bundle: string, name: string, body = 'throw new Error("fault");'): this {
    const parts = readFileSync(this.path(bundle), 'utf8').split(`function ${name}(`);
    if (parts.length !== 2) throw new Error(`${bundle} has ${parts.length - 1} functions ${name}`);
    const [before, after] = parts as [string, string];
    const unused = `${before.endsWith('async ') ? 'async ' : ''}function ${name}_(`;
    writeFileSync(this.path(bundle), `${before}function ${name}() { ${body} } ${unused}${after}`);
    return this;
  }
}
