/**
 * Finds contractions in MLIR text and says where attributes can be added to them.
 *
 * `parse` and `locate` work on bytes, and all offsets are byte offsets. Nothing here does I/O or keeps state.
 */
export { isBytecode } from './bytecode.ts';
export { findConsumers } from './consumers.ts';
export { applyInsertions, insertionFor, insertionSlices, mapBack, originalPosition } from './edit.ts';
export { type Location, locate } from './locate.ts';
export { parse, type ParseOptions } from './parse.ts';
export type {
  AffineMap,
  Attribute,
  Body,
  Consumer,
  Insertion,
  InsertionPoint,
  IteratorType,
  Kind,
  OpaqueType,
  Operand,
  Operation,
  ParseResult,
  Problem,
  Role,
  ShapedType,
  Type,
} from './types.ts';
