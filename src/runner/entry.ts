// The program in place of a tool of the runtime that runs on another machine: see `remote-tool.ts`.
import { messageOf } from '../system/tell.ts';
import { runRemoteTool } from './remote-tool.ts';
import type { Runner } from './runner.ts';
import { BROKEN_CODE, BROKEN_TEXT } from './shell.ts';

const [runner, tool, ...argv] = process.argv.slice(2);

runRemoteTool(JSON.parse(runner!) as Runner, tool!, argv).then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    process.stderr.write(`${BROKEN_TEXT}${messageOf(error)}\n`);
    process.exitCode = BROKEN_CODE;
  },
);
