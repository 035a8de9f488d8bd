// Reads lines that an earlier version of this program kept unread. Runs in the caller's transaction.
import type { Source } from '../exchange/exchange.ts';
import type { Line } from '../exchange/lines.ts';
import { readLine } from '../exchange/read.ts';
import * as exchange from './exchange-statements.ts';
import { receiverOf } from './receive.ts';
import type { Prepare } from './write.ts';

interface KeptRow {
  readonly line: string;
  /** Null for a line from a team's server. */
  readonly change: number | null;
}

/** Merges lines that this version understands, and removes them from the kept lines. Returns their number. */
export function rereadKept(statement: Prepare): number {
  const readable = (statement(exchange.SORTED.kept).all() as KeptRow[]).flatMap(({ line: text, change }) => {
    const reading = readLine(text);
    const source: Source = change === null ? 'team' : 'file';
    return reading.outcome === 'line' ? [{ text, source, line: reading.line }] : [];
  });
  // Descriptions before the lines that refer to them.
  const comesFirst = ({ line }: { line: Line }) => 'form' in line || line.type === 'revocation';
  const phases = [readable.filter(comesFirst), readable.filter((one) => !comesFirst(one))];
  let taken = 0;
  for (const phase of phases)
    for (const [source, lines] of Map.groupBy(phase, (one) => one.source)) {
      const take = receiverOf(statement, source, new Set());
      for (const { text, line } of lines)
        if (typeof take({ outcome: 'line', line }) !== 'object') {
          statement(exchange.DELETE_KEPT_LINE).run(text);
          taken++;
        }
    }
  return taken;
}
