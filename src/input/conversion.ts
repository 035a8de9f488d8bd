// Flags that make the compiler convert the element types of the whole input. A workload has the converted types, because code is
// generated for these.
import { flagIsOn, type CompilerArguments } from '../compiler/arguments.ts';

/** Conversions in the compiler's order. Only the first is on by default. */
const CONVERSIONS = [
  { flag: 'iree-input-demote-f64-to-f32', from: 'f64', to: 'f32', byDefault: true },
  { flag: 'iree-input-demote-i64-to-i32', from: 'i64', to: 'i32', byDefault: false },
  { flag: 'iree-input-demote-f32-to-f16', from: 'f32', to: 'f16', byDefault: false },
  { flag: 'iree-input-promote-f16-to-f32', from: 'f16', to: 'f32', byDefault: false },
  { flag: 'iree-input-promote-bf16-to-f32', from: 'bf16', to: 'f32', byDefault: false },
] as const;

/** Maps an element type of the input to the type that a compile with these arguments converts it to. */
export function elementTypeConversion(args: CompilerArguments): (elementType: string) => string {
  const active = CONVERSIONS.filter(({ flag, byDefault }) => flagIsOn(args, flag, byDefault));
  return (elementType) => active.reduce((type, { from, to }) => (type === from ? to : type), elementType);
}
