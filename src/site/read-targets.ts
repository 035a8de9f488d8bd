// Reads targets from the compiler's output. Loaded on demand.
import { dialectAttributes, stringOf, type DialectAttribute } from 'mlir-parser-ts';
import type { Target } from '../backend/target.ts';

/**
 * The distinct targets of the default device in the IR of a module after device assignment. Other devices get code only if the input names
 * devices.
 * @param flags the user's flags that are part of the target
 */
export function readTargets(ir: Uint8Array, flags: readonly string[]): Target[] {
  const targets = new Map<string, Target>();
  const device = defaultDevice(ir);
  for (const attribute of dialectAttributes(device, '#hal.executable.target')) {
    const [backend, format] = attribute.values.map(stringOf);
    if (typeof backend !== 'string' || typeof format !== 'string') continue;
    const info = attribute.entries.get('iree_codegen.target_info') ?? '';
    const gpu = dialectAttributes(Buffer.from(info), '#iree_gpu.target')[0];
    const text = Buffer.from(device.subarray(attribute.start, attribute.end)).toString();
    targets.set(text, {
      backend,
      triple: field(attribute, 'target_triple') || format,
      cpu: field(attribute, 'cpu') || field(gpu, 'arch'),
      features: enabledFeatures(field(attribute, 'cpu_features') || field(gpu, 'features')),
      nativeVectorBytes: Number(/^\d+/.exec(attribute.entries.get('native_vector_size') ?? '')?.[0] ?? 0),
      ...(gpu && { gpu: info }),
      flags,
    });
  }
  return [...targets.values()];
}

/** The line that defines the default device; all of the IR if there is no such line. */
function defaultDevice(ir: Uint8Array): Uint8Array {
  const text = Buffer.from(ir).toString('latin1');
  const name = /stream\.affinity\.default = #hal\.device\.affinity<(@"[^"]*"|@[^,>]*)/.exec(text)?.[1];
  const line = text.split('\n').find((one) => one.includes(`util.global private ${name} = `));
  return line === undefined ? ir : Buffer.from(line, 'latin1');
}

const field = (attribute: DialectAttribute | undefined, name: string): string =>
  stringOf(attribute?.entries.get(name) ?? '') ?? '';

/** The compiler appends the user's features to the CPU's, so the last mention of a feature wins. */
function enabledFeatures(list: string): string[] {
  const enabled = new Map<string, boolean>();
  for (const feature of list.split(',')) {
    if (/^[+-]/.test(feature)) enabled.set(feature.slice(1), feature.startsWith('+'));
  }
  return [...enabled]
    .filter(([, on]) => on)
    .map(([name]) => name)
    .sort();
}
