// From demands to jobs, and what whoever takes a job believes of it.
import { expect, test } from 'vitest';
import { isOfLaterVersion, readJob, type Job } from '../../src/fleet/job.ts';
import { planJobs } from '../../src/fleet/plan.ts';
import { HEARTBEAT_SECONDS, RETRY_SECONDS, SUPERVISION_SECONDS } from '../../src/fleet/boss.ts';
import type { Subject } from '../../src/store/store.ts';
import type { Demands } from '../../src/team/team.ts';
import { workloadKey, type OperationWork } from '../../src/workload/workload.ts';
import { partsOf } from '../team/support.ts';
import { PLACE, pretendedDevice, wantedOn } from './support.ts';
import { operationWork } from '../support/operation-work.ts';

const demandsFor = (
  ...wanted: readonly { subject: Subject; builds: number; refused?: string }[]
): Demands => ({
  lines: wanted.flatMap(({ subject }) => partsOf(subject)),
  later: [],
  ignored: 0,
  more: false,
  demands: wanted.map(({ subject, builds, refused = null }) => ({
    workload: subject.workload,
    device: subject.device,
    builds,
    refused,
  })),
});

const jobFor = ({ workload, workloadForm }: Subject): Job => ({
  version: 1,
  ...PLACE,
  workload,
  form: workloadForm,
});

/** The same work in a dispatch of a program. */
function inProgram(subject: Subject): Subject {
  const workloadForm: OperationWork = {
    ...operationWork(subject.workloadForm),
    context: { digest: '0123456789abcdef' },
  };
  return { ...subject, workloadForm, workload: workloadKey(workloadForm) };
}

test('the demands of all devices of a class are one job, with the builds of all', () => {
  const [a, b] = [wantedOn('A', 1), wantedOn('B', 1)];
  const plan = planJobs(demandsFor({ subject: a, builds: 3 }, { subject: b, builds: 4 }), PLACE);
  expect(plan).toEqual({ jobs: [{ job: jobFor(a), builds: 7 }], refused: [] });
});

test('what devices of another class want is left to them', () => {
  const other = wantedOn('A', 1);
  const deviceForm = { ...pretendedDevice('A'), threads: 2 };
  const plan = planJobs(demandsFor({ subject: { ...other, device: 'small', deviceForm }, builds: 1 }), PLACE);
  expect(plan).toEqual({ jobs: [], refused: [] });
});

test('what nothing but a program can be measured for is refused, once', () => {
  const subject = inProgram(wantedOn('A', 1));
  // Lines are checked when they come; what comes is not what is checked here.
  const plan = planJobs(demandsFor({ subject, builds: 1 }), PLACE);
  expect(plan.jobs).toEqual([]);
  const [refused] = plan.refused;
  expect(refused).toMatchObject({ subject: { workload: subject.workload, device: subject.device } });
  expect(refused!.reason).not.toBe('');
  const again = demandsFor({ subject, builds: 1, refused: refused!.reason });
  expect(planJobs(again, PLACE)).toEqual({ jobs: [], refused: [] });
});

test('what a later version may know is neither planned nor refused; what nobody describes is refused', () => {
  const subject = wantedOn('A', 1);
  const device = partsOf(subject).filter(({ type }) => type === 'device');
  const demand = { device: subject.device, builds: 1, refused: null };
  const later = {
    lines: device,
    later: [],
    ignored: 1,
    more: false,
    demands: [{ ...demand, workload: 'attention q=64' }],
  };
  expect(planJobs(later, PLACE)).toEqual({ jobs: [], refused: [] });
  // Of a kind that is known, in a form that is not.
  const text = JSON.stringify({ ...partsOf(subject)[0], version: 2 });
  const newer = {
    lines: device,
    later: [text],
    ignored: 0,
    more: false,
    demands: [{ ...demand, workload: subject.workload }],
  };
  expect(planJobs(newer, PLACE)).toEqual({ jobs: [], refused: [] });
  const distrusted = {
    lines: device,
    later: [],
    ignored: 0,
    more: false,
    demands: [{ ...demand, workload: subject.workload }],
  };
  expect(planJobs(distrusted, PLACE)).toMatchObject({
    jobs: [],
    refused: [{ subject: { workload: subject.workload } }],
  });
});

test('a job is believed only where it is what it says, and of this queue', () => {
  const job = jobFor(wantedOn('A', 4));
  expect(readJob(JSON.parse(JSON.stringify(job)), PLACE)).toEqual(job);
  const bad: readonly unknown[] = [
    ...[null, 'job', [], {}],
    { ...job, version: 2 },
    { ...job, workload: 'contraction m=4' },
    { ...job, workload: 'x'.repeat(100_000) },
    { ...job, form: { ...job.form, kind: 'shell' } },
    { ...job, form: { ...job.form, lhs: { elementType: 'f32, evil = "', dimensions: [0, 2] } } },
    { ...job, text: 'func.func @main() { return }' },
    { ...job, device: 'another' },
    { ...job, target: 'another' },
    { ...job, compiler: 'another' },
    jobFor(inProgram(wantedOn('A', 4))),
  ];
  for (const data of bad) expect(readJob(data, PLACE)).toEqual(expect.any(String));
});

test('a job of a later version is told from one that nobody can do', () => {
  const job = jobFor(wantedOn('A', 4));
  const later: readonly unknown[] = [
    { ...job, version: 2 },
    { ...job, form: { ...job.form, kind: 'later' } },
    { ...job, form: { ...job.form, version: 2 } },
  ];
  expect(later.map(isOfLaterVersion)).toEqual([true, true, true]);
  const others: readonly unknown[] = [
    null,
    'job',
    [],
    {},
    job,
    { ...job, device: 'another' },
    { version: 1 },
  ];
  expect(others.filter(isOfLaterVersion)).toEqual([]);
});

test('what a killed worker holds is taken up in half a minute', () => {
  // The library looks again only when its interval is over, and a worker looks every two and a half seconds.
  const look = SUPERVISION_SECONDS + 2 * 2.5;
  expect(HEARTBEAT_SECONDS + look + 2 * RETRY_SECONDS + 2.5).toBeLessThan(30);
});
