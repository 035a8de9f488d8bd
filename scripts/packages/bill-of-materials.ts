// Bill of materials in CycloneDX, from npm. With --omit=dev npm drops packages that development packages share, so this asks for all
// packages, and filters them by the lock file.
import { execFileSync } from 'node:child_process';
import { manifest, readJson, root } from './files.ts';

interface Component {
  name: string;
  readonly 'bom-ref': string;
  readonly purl: string;
}

interface Bill {
  readonly metadata: { readonly component: Component };
  components: Component[];
  dependencies: { readonly ref: string; dependsOn: readonly string[] }[];
}

interface Lock {
  readonly packages: Readonly<
    Record<string, { name?: string; version?: string; dev?: true; devOptional?: true; link?: true }>
  >;
}

/** JSON text of the bill. */
export function billOfMaterials(): string {
  const argv = ['sbom', '--sbom-format=cyclonedx', '--package-lock-only', '--loglevel=error'];
  const bill = JSON.parse(
    execFileSync('npm', argv, { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 26 }),
  ) as Bill;
  // npm uses the folder's name.
  bill.metadata.component.name = manifest.name;
  const shipped = shippedPackages();
  bill.components = bill.components
    .filter(({ purl }) => shipped.has(purl))
    .map((component) => ({ ...component, name: nameIn(component.purl) }));
  const kept = new Set(
    [bill.metadata.component, ...bill.components].map((component) => component['bom-ref']),
  );
  bill.dependencies = bill.dependencies
    .filter(({ ref }) => kept.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((one) => kept.has(one)) }));
  return `${JSON.stringify(bill, null, 2)}\n`;
}

/** `pkg:npm/NAME@VERSION` of all packages that are not for development only. */
function shippedPackages(): Set<string> {
  const { packages } = readJson('package-lock.json') as Lock;
  const all = Object.entries(packages).filter(
    ([path, { dev, devOptional, link }]) => path !== '' && !dev && !devOptional && !link,
  );
  const named = all.map(([path, { name, version }]) => [
    name ?? path.replace(/^.*\bnode_modules\//, ''),
    version!,
  ]);
  return new Set(named.map(([name, version]) => `pkg:npm/${name!.replace('@', '%40')}@${version!}`));
}

const nameIn = (purl: string) => decodeURIComponent(/^pkg:npm\/(.+)@/.exec(purl)![1]!);
