// `iree-tuned team status`
import { readAddress } from '../../team/address.ts';
import { breakerState } from '../../team/breaker.ts';
import type { ServerStatus } from '../../team/team.ts';
import { teamState } from '../../team/state.ts';
import { CliCommand } from '../command.ts';
import { showBases } from './bases.ts';
import { COMMAND_LIMIT_MS, withTeam } from './server.ts';

export const status = new CliCommand(
  'status',
  "show the team's bases and how far they are here, or its server and whether builds ask it",
)
  .json()
  .examples(
    ['iree-tuned team status', 'of the setting "team"'],
    ['iree-tuned --team postgres://ada@tuning.example.com/tuning team status', 'of another server'],
  )
  .action(async (_, command: CliCommand) => {
    if (command.surroundings().settings.bases.length > 0) showBases(command);
    else await showStatus(command);
  });

/** Ends with 1 where the server fails. */
async function showStatus(command: CliCommand): Promise<void> {
  const surroundings = command.surroundings();
  const { answer, url } = await withTeam(surroundings, async (team, url) => ({
    answer: await team.status(COMMAND_LIMIT_MS),
    url,
  }));
  const state = teamState(surroundings.cacheDirectory, url);
  const failed = state.breaker();
  const breaker = {
    state: breakerState(failed, Date.now()),
    failures: failed?.failures ?? 0,
    until: failed === null ? null : new Date(failed.until).toISOString(),
    reason: failed?.reason ?? null,
  };
  const missing = Object.keys(state.missing()).length;
  const { shown } = readAddress(url);
  if (!answer.ok) process.exitCode = 1;
  const server = answer.ok ? { ...answer.value, problem: null } : { problem: answer.failure.reason };
  const isAsked = breaker.state === 'open' ? `not until ${breaker.until!}: ${breaker.reason!}` : 'yes';
  command.printTable(
    { url: shown, ...server, breaker, missing },
    ['what', 'value'],
    [
      ['url', shown],
      ...(answer.ok ? rowsOf(answer.value) : [['problem', answer.failure.reason]]),
      ['builds ask', isAsked],
      ['missing there', `${missing} workloads, for ten minutes`],
    ],
  );
}

const rowsOf = ({ server, epoch, protocol, version, login, counts, bytes }: ServerStatus): string[][] => [
  ['server', server],
  ['epoch', epoch],
  ['protocol', String(protocol)],
  ['schema', String(version)],
  ['login', login],
  ...Object.entries(counts).map(([name, count]) => [name, String(count)]),
  ...Object.entries(bytes).map(([name, size]) => [`bytes of ${name}`, String(size)]),
];
