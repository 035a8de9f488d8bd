// The compiler can be told to convert element types of the whole input before it looks at any operation; a workload has
// the types that code is generated for.
import { flagIsOn, type CompilerArguments } from '../compiler/arguments.ts';

/** Conversions in the order in which the compiler applies them; only the first is on unless a flag says otherwise. */
const CONVERSIONS = [
  { flag: 'iree-input-demote-f64-to-f32', from: 'f64', to: 'f32', byDefault: true },
  { flag: 'iree-input-demote-i64-to-i32', from: 'i64', to: 'i32', byDefault: false },
  { flag: 'iree-input-demote-f32-to-f16', from: 'f32', to: 'f16', byDefault: false },
  { flag: 'iree-input-promote-f16-to-f32', from: 'f16', to: 'f32', byDefault: false },
  { flag: 'iree-input-promote-bf16-to-f32', from: 'bf16', to: 'f32', byDefault: false },
] as const;

/** What a compile with these arguments makes of an element type. */
export function elementTypeConversion(args: CompilerArguments): (elementType: string) => string {
  const active = CONVERSIONS.filter(({ flag, byDefault }) => flagIsOn(args, flag, byDefault));
  return (elementType) => active.reduce((type, { from, to }) => (type === from ? to : type), elementType);
}
