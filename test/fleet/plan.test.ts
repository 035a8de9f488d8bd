// From demands to jobs, and validation of jobs.
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

/** The same workload inside a dispatch of a program. */
function inProgram(subject: Subject): Subject {
  const workloadForm: OperationWork = {
    ...operationWork(subject.workloadForm),
    context: { digest: '0123456789abcdef' },
  };
  return { ...subject, workloadForm, workload: workloadKey(workloadForm) };
}

test('the demands of all devices of a class make one job with the sum of their builds', () => {
  const [a, b] = [wantedOn('A', 1), wantedOn('B', 1)];
  const plan = planJobs(demandsFor({ subject: a, builds: 3 }, { subject: b, builds: 4 }), PLACE);
  expect(plan).toEqual({ jobs: [{ job: jobFor(a), builds: 7 }], refused: [] });
});

test('demands of another class of devices make no job', () => {
  const other = wantedOn('A', 1);
  const deviceForm = { ...pretendedDevice('A'), threads: 2 };
  const plan = planJobs(demandsFor({ subject: { ...other, device: 'small', deviceForm }, builds: 1 }), PLACE);
  expect(plan).toEqual({ jobs: [], refused: [] });
});

test('a workload that needs its program is refused once', () => {
  const subject = inProgram(wantedOn('A', 1));
  // The lines were validated on receipt, so this test need not.
  const plan = planJobs(demandsFor({ subject, builds: 1 }), PLACE);
  expect(plan.jobs).toEqual([]);
  const [refused] = plan.refused;
  expect(refused).toMatchObject({ subject: { workload: subject.workload, device: subject.device } });
  expect(refused!.reason).not.toBe('');
  const again = demandsFor({ subject, builds: 1, refused: refused!.reason });
  expect(planJobs(again, PLACE)).toEqual({ jobs: [], refused: [] });
});

test('a workload of a later version is neither planned nor refused; a workload without a form is refused', () => {
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
  // A known kind in an unknown form.
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

test('a job is read only if its form matches its key and its place matches the queue', () => {
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

test('a job of a later version differs from an invalid job', () => {
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

test('another worker takes the job of a killed worker within 30 seconds', () => {
  // pg-boss checks at its own interval, and a worker calls it every 2.5 seconds.
  const look = SUPERVISION_SECONDS + 2 * 2.5;
  expect(HEARTBEAT_SECONDS + look + 2 * RETRY_SECONDS + 2.5).toBeLessThan(30);
});
