// The delay of builds by a faulty team server: the first build that meets the fault, and later builds.
import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { execa } from 'execa';
import { median } from '../src/measure/statistics.ts';
import { table } from '../src/report/table.ts';
import { teamState } from '../src/team/state.ts';
import { rotate } from '../src/running/comparison/rounds.ts';
import { startServer, type TestServer } from '../test/support/postgres.ts';
import {
  BenchError,
  jsonFile,
  readArguments,
  refusePositionals,
  run,
  say,
  wholeNumber,
  writeJson,
} from './shared/arguments.ts';
import { requirePostgres, teamDatabase } from './shared/team-database.ts';
import {
  aboutRun,
  HOST_FLAGS,
  openWorkplace,
  wrapperEnvironment,
  type Workplace,
} from './shared/workplace.ts';

const USAGE = `usage: npm run bench:outages -- [--rounds N] [--json FILE]

  --rounds  builds of each kind for each server (default 15)
  --json    also write all values to FILE`;

/** Most milliseconds that a build may take longer than without a team: the first build, and later builds. */
const ALLOWED = { first: 350, again: 5 };

interface BadServer {
  readonly what: string;
  readonly url: string;
}

/** Starts a server that lives as long as the process. @returns its port */
async function listening(onConnection: (socket: Socket) => void): Promise<number> {
  const server: Server = createServer((socket) => {
    socket.on('error', () => undefined);
    onConnection(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  server.unref();
  return (server.address() as AddressInfo).port;
}

async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** A proxy that delays the bytes of both directions. */
const slowly =
  (port: number, delayMs: number) =>
  (socket: Socket): void => {
    const there = connect(port, '127.0.0.1').on('error', () => socket.destroy());
    const later = (to: Socket) => (bytes: Buffer) =>
      setTimeout(() => to.writable && to.write(bytes), delayMs);
    socket.on('data', later(there)).on('close', () => there.destroy());
    there.on('data', later(socket)).on('close', () => socket.destroy());
  };

const atPort = (url: string, port: number): string => {
  const there = new URL(url);
  there.port = String(port);
  return there.href;
};

const reader = { in: 'iree_tuned_reader' };

/** URL of a database whose function `ask` first runs these statements. */
async function asking(server: TestServer, statements: string): Promise<string> {
  const database = await teamDatabase(server);
  await database.query(
    `CREATE OR REPLACE FUNCTION iree_tuned.ask(request jsonb) RETURNS json LANGUAGE plpgsql SECURITY DEFINER
     SET search_path = iree_tuned, pg_temp AS $$ BEGIN ${statements} RETURN identity()::json; END $$`,
  );
  return database.login('bench', reader);
}

async function badServers(server: TestServer): Promise<BadServer[]> {
  const nobody = (port: number, host = '127.0.0.1') =>
    `postgres://ada:secret@${host}:${port}/tuning?sslmode=disable`;
  const database = await teamDatabase(server);
  const good = await database.login('bench', reader);
  const full = await database.login('full', reader);
  await database.query(`ALTER ROLE full_${database.name} CONNECTION LIMIT 0`);
  const wrong = new URL(good);
  wrong.password = 'wrong';
  return [
    { what: 'refuses connections', url: nobody(await closedPort()) },
    { what: 'accepts connections and never answers', url: nobody(await listening(() => undefined)) },
    { what: 'cannot be routed to', url: nobody(5432, '192.0.2.1') },
    {
      what: 'answers each message 150 ms late',
      url: atPort(good, await listening(slowly(server.port, 150))),
    },
    { what: 'refuses the password', url: wrong.href },
    { what: 'has too many connections', url: full },
    {
      what: 'has a full disk',
      url: await asking(server, `RAISE disk_full USING MESSAGE = 'could not extend file';`),
    },
    {
      what: 'goes down during the query',
      url: await asking(server, 'PERFORM pg_sleep(0.1); PERFORM pg_terminate_backend(pg_backend_pid());'),
    },
    { what: 'works and has no records', url: good },
  ];
}

const INPUT = `func.func @main(%lhs: tensor<61x71xf32>, %rhs: tensor<71x67xf32>, %init: tensor<61x67xf32>) -> tensor<61x67xf32> {
  %result = linalg.matmul ins(%lhs, %rhs : tensor<61x71xf32>, tensor<71x67xf32>) outs(%init : tensor<61x67xf32>) -> tensor<61x67xf32>
  return %result : tensor<61x67xf32>
}
`;
const MODULE = 'the compiled module';

/** A compiler that writes the module at once, so that only our own time is measured. Other calls run the real compiler. */
function writeCompiler({ folder, compiler }: Workplace): string {
  const path = join(folder, 'iree-compile');
  const script = `#!/bin/sh
case "$*" in
  *in.mlir*) for output; do :; done; printf '%s' '${MODULE}' >"$output" ;;
  *) exec '${compiler.executable}' "$@" ;;
esac
`;
  writeFileSync(path, script);
  chmodSync(path, 0o755);
  return path;
}

/** Milliseconds of two builds, one with a team and one without. */
interface Pair {
  readonly with: number;
  readonly without: number;
}

class Builder {
  readonly #place: Workplace;
  readonly #compiler: string;
  #builds = 0;

  constructor(place: Workplace) {
    this.#place = place;
    this.#compiler = writeCompiler(place);
    writeFileSync(join(place.folder, 'in.mlir'), INPUT);
  }

  /**
   * Milliseconds of a build without a record. Each build has a new output file, so that none repeats an earlier build.
   * @throws BenchError when the build differs from the compiler's own build
   */
  async build(team: string | undefined): Promise<number> {
    const { wrapper, folder } = this.#place;
    const env = wrapperEnvironment(this.#place, {
      ...{ COMPILER: this.#compiler, DB: join(folder, 'tuning.db'), DEVICE: 'local-sync' },
      ...{ ON_MISS: 'default', TEAM: team },
    });
    const output = join(folder, `module-${this.#builds++}.vmfb`);
    const begun = performance.now();
    const argv = [...HOST_FLAGS, join(folder, 'in.mlir'), '-o', output];
    const options = { env, extendEnv: false, all: true, reject: false, stdin: 'ignore' } as const;
    const { exitCode, all } = await execa(wrapper, argv, options);
    const took = performance.now() - begun;
    if (exitCode !== 0 || all !== '' || readFileSync(output, 'utf8') !== MODULE)
      throw new BenchError(`a build ended with ${exitCode} and said: ${all}`);
    rmSync(output);
    return took;
  }

  forget(team: string): void {
    teamState(this.#place.cacheDirectory, team).forget();
  }
}

async function main(): Promise<void> {
  const args = readArguments(['rounds', 'json'], USAGE);
  refusePositionals(args);
  requirePostgres();
  const rounds = wholeNumber(args, 'rounds', 15);
  const json = jsonFile(args);

  const builder = new Builder(await openWorkplace());
  const about = aboutRun('outages', 'local-sync', {});
  const server = await startServer();
  const servers = await badServers(server);
  // Warm-up: the first build asks the compiler and fills caches.
  for (const { url } of servers) await builder.build(url);
  await builder.build(undefined);
  const times = servers.map(() => ({ first: [] as Pair[], again: [] as Pair[] }));
  for (let round = 0; round < rounds; round++) {
    say(`Round ${round + 1} of ${rounds} ...`);
    for (const [i, { url }] of rotate([...servers.entries()], round)) {
      /** Two builds, whose order alternates from round to round. */
      const pair = async (): Promise<Pair> => {
        if (round % 2 > 0) return { with: await builder.build(url), without: await builder.build(undefined) };
        const without = await builder.build(undefined);
        return { with: await builder.build(url), without };
      };
      builder.forget(url);
      times[i]!.first.push(await pair());
      // After a wait, the machine is slower for a moment.
      await builder.build(undefined);
      times[i]!.again.push(await pair());
    }
  }
  await server.stop();

  const results = servers.map(({ what }, i) => {
    const { first, again } = times[i]!;
    const over = (pairs: readonly Pair[]) => median(pairs.map((pair) => pair.with - pair.without));
    return {
      what,
      withoutMs: median([...first, ...again].map(({ without }) => without)),
      firstMs: over(first),
      againMs: over(again),
      milliseconds: times[i],
    };
  });
  const ms = (value: number) => value.toFixed(1);
  console.log(
    table(
      ['a server that', 'without a team, ms', 'first build, ms more', 'later builds, ms more'],
      results.map(({ what, withoutMs, firstMs, againMs }) => [what, ms(withoutMs), ms(firstMs), ms(againMs)]),
    ),
  );
  writeJson(json, { ...about, options: { rounds }, results });
  const slow = results.filter(({ firstMs, againMs }) => firstMs > ALLOWED.first || againMs > ALLOWED.again);
  for (const { what } of slow)
    say(
      `A server that ${what} costs more than ${ALLOWED.first} ms for the first build, or ${ALLOWED.again} ms for later builds.`,
    );
  if (slow.length > 0) process.exitCode = 1;
  process.exit();
}

await run('bench:outages', main);
