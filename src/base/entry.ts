// The process that works on the bases of a build: `node base.cjs JOB`.
import { runJob, type Job } from './job.ts';

// `checked.json` keeps the problems.
void runJob(JSON.parse(process.argv[2]!) as Job).catch(() => {
  process.exitCode = 1;
});
