// The configuration of docs/team for nginx: TLS, a token each for readers and writers, and an inbox.
// In full after a change of src/base, docs/team.md.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { ownOrigin, writtenNow } from '../../src/store/author.ts';
import { entryOf } from '../../src/system/package-root.ts';
import { lastCheck, folderOf } from '../../src/base/installed.ts';
import { root, temporaryDirectory } from '../support/folders.ts';
import { isWithout } from '../support/needs.ts';
import { answers } from '../support/ssh-server.ts';
import { DECISION, subjectOf } from '../store/samples.ts';
import type { Job } from '../../src/base/job.ts';
import { baseOf, databaseOf, databaseWith, PLACE } from './support.ts';

const PORT = 8443;

/** Starts nginx with the file of the docs, for a folder `srv`. @returns the file of its certificate */
async function nginxFor(folder: string): Promise<string> {
  const at = (name: string) => join(folder, name);
  const subject = ['-subj', '/CN=web.example.com', '-addext', 'subjectAltName=IP:127.0.0.1'];
  const files = ['-keyout', at('server.key'), '-out', at('server.crt')];
  execFileSync('openssl', ['req', '-new', '-x509', '-days', '2', '-nodes', ...subject, ...files], {
    stdio: 'ignore',
  });
  const server = readFileSync(join(root, 'docs/team/nginx.conf'), 'utf8')
    .replace('443 ssl', `127.0.0.1:${PORT} ssl`)
    .replaceAll('/etc/nginx/tls', folder)
    .replace('root /srv', `root ${at('srv')}`);
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  const paths = temporary.map((name) => `${name}_temp_path ${at(name)};`).join(' ');
  writeFileSync(
    at('nginx.conf'),
    `daemon off; pid ${at('pid')}; error_log ${at('error.log')};
events {}
http { access_log off; ${paths}
${server}}`,
  );
  const child = spawn('nginx', ['-c', at('nginx.conf')], { stdio: 'ignore' });
  onTestFinished(() => {
    child.kill('SIGTERM');
  });
  for (let i = 0; i < 250 && !(await answers(PORT)); i++) await sleep(20);
  return at('server.crt');
}

const whyNot =
  spawnSync('nginx', ['-v']).error === undefined ? null : 'no nginx is installed (apt install nginx-light)';

test.skipIf(isWithout(whyNot))('readers read, writers fill the inbox', async () => {
  const folder = temporaryDirectory();
  const srv = join(folder, 'srv', 'tuned');
  mkdirSync(join(srv, 'inbox'), { recursive: true });
  cpSync(await baseOf(databaseOf(16)), srv, { recursive: true });
  for (const path of [folder, join(folder, 'srv'), srv]) chmodSync(path, 0o755);
  // The workers of nginx have a user of their own.
  chmodSync(join(srv, 'inbox'), 0o777);
  const certificate = await nginxFor(folder);
  const address = { kind: 'web', url: `https://127.0.0.1:${PORT}/tuned/` } as const;
  const database = databaseWith((store) => {
    store.putRecord(subjectOf(32), { ...DECISION, ...writtenNow() });
  }, ownOrigin());
  /** Runs a job as a build does. @returns its problem */
  const problemOf = (token: string | undefined, env: Record<string, string> = {}, sent?: string) => {
    const cacheDirectory = temporaryDirectory();
    const job: Job = {
      ...{ addresses: [address], places: [PLACE], cacheDirectory, publish: 'inbox' },
      token: token && `echo the-token-of-${token}`,
      ...(sent !== undefined && { sent }),
    };
    spawnSync(process.execPath, [...entryOf('base'), JSON.stringify(job)], {
      env: { ...process.env, ...env },
    });
    return lastCheck(folderOf(cacheDirectory, address))!.problem;
  };
  const trusting = { NODE_EXTRA_CA_CERTS: certificate };
  expect(problemOf('readers')).toMatch(/self-signed certificate/);
  expect(problemOf(undefined, trusting)).toMatch(/401 .*: set team-token/);
  expect(problemOf('readers', trusting)).toBeNull();
  expect(problemOf('readers', trusting, database)).toMatch(/401 .*: the token is refused/);
  expect(problemOf('writers', trusting, database)).toBeNull();
  expect(execFileSync('ls', [join(srv, 'inbox')], { encoding: 'utf8' })).toMatch(
    /^\d+T\d+Z-\w+\.jsonl\.gz\n$/,
  );
});
