// Remembered surveys. Anybody may write the cache folder, so invalid surveys are not recalled.
import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { surveyMemory, type Survey } from '../../src/input/survey-memory.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { matmul } from '../support/workloads.ts';

const form = { workload: matmul(8, 16, 32), loops: [2, 1, 0] };
const operation = {
  ...{ name: 'linalg.matmul', index: 0, location: null, skipped: null },
  ...{ generated: form, written: null, executables: ['main_dispatch_0'] },
};
const survey: Survey = { identity: 'an input', operations: [operation], rewritables: [], seconds: 1 };

/** The recalled survey after a change of the file's text. */
function recalledWith(change: (text: string) => string): Survey | null {
  const cache = temporaryDirectory();
  surveyMemory.remember(cache, survey);
  const path = surveyMemory.pathOf(cache, survey.identity);
  writeFileSync(path, change(readFileSync(path, 'utf8')));
  return surveyMemory.recall(cache, survey.identity);
}

test('a survey is recalled unchanged', () => {
  expect(recalledWith((text) => text)).toEqual(survey);
});

describe('a survey is not recalled', () => {
  test.each([
    ['a loop that stands twice', '"loops":[2,1,0]', '"loops":[2,1,1]'],
    ['a loop too few', '"loops":[2,1,0]', '"loops":[2,1]'],
    ['a loop that the workload has not', '"loops":[2,1,0]', '"loops":[3,1,0]'],
    ['a loop that is no number', '"loops":[2,1,0]', '"loops":[2,1,"0"]'],
    ['a size that is none', '"size":16', '"size":-16'],
    ['an index that is none', '"index":0', '"index":0.5'],
    ['executables without names', '["main_dispatch_0"]', '[7]'],
    ['an operation without a name', '"name":"linalg.matmul"', '"name":null'],
    ['no seconds', '"seconds":1', '"seconds":"1"'],
  ])('for %s', (_, before, after) => {
    expect(
      recalledWith((text) => {
        expect(text).toContain(before);
        return text.replace(before, after);
      }),
    ).toBeNull();
  });
});
