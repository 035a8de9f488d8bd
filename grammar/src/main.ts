/**
 * Finds contractions in MLIR text and the places for new attributes on them. Also reads functions, attributes and
 * locations.
 *
 * Input is bytes, and all offsets are byte offsets. Nothing does I/O, and only a `lineIndex` keeps state.
 */
export { type AttributeValue, attributeValue } from './attribute-value.ts';
export { isBytecode } from './bytecode.ts';
export { dialectAttributes } from './dialect-attributes.ts';
export { applyInsertions, insertionFor, insertionSlices, mapBack, originalPositions } from './edit.ts';
export { functions } from './functions.ts';
export { type LineIndex, lineIndex, type Location, locate } from './locate.ts';
export { locationsOf } from './locations.ts';
export { parse, type ParseOptions } from './parse.ts';
export { symbolsOf } from './symbols.ts';
export { type Token, type TokenKind, tokens } from './tokens.ts';
export { type Block, type GenericOperation, type OpaqueText, tree, type TreeNode } from './tree.ts';
export { typeText } from './type-text.ts';
export type {
  AffineMap,
  Attribute,
  Body,
  DialectAttribute,
  Insertion,
  InsertionPoint,
  IteratorType,
  Kind,
  OpaqueType,
  Operand,
  Operation,
  ParseResult,
  Problem,
  PublicFunction,
  Role,
  ShapedType,
  SourceLocation,
  StridedResult,
  Term,
  WindowResult,
  Type,
} from './types.ts';
export { integerOf, stringOf } from './values.ts';
