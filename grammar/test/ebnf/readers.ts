import type { Reader } from './reader.ts';
import { attributeReaders } from './readers/attributes.ts';
import { fileReaders } from './readers/file.ts';
import { operationReaders, rowReader } from './readers/operations.ts';
import { programReader } from './readers/program.ts';
import { questionReaders } from './readers/questions.ts';
import { regionReaders } from './readers/regions.ts';
import { tokenReaders } from './readers/tokens.ts';
import { typeReaders } from './readers/types.ts';

export const readers: readonly Reader[] = [
  ...[...tokenReaders, ...typeReaders, ...attributeReaders, ...regionReaders, ...operationReaders],
  ...[rowReader, ...fileReaders, programReader, ...questionReaders],
];
