// The picture of a build, from the text of its steps.
import { arrow, box, picture, text } from './svg.ts';

/** Steps from left to right, each with a detail. */
const STEPS = `
command line   | of iree-compile
find operations | matmul, convolution, ...
look up records | target, device, compiler
tune misses    | within the budget
run the program | stock against tuned
iree-compile   | with configurations`;

const WIDTH = 140;
const GAP = 22;
const TOP = 14;
const HEIGHT = 52;

export function pipelinePicture(): string {
  const steps = STEPS.trim()
    .split('\n')
    .map((line) => line.split('|').map((part) => part.trim()) as [string, string]);
  const left = (i: number) => 8 + i * (WIDTH + GAP);
  const middle = (i: number) => left(i) + WIDTH / 2;
  const bottom = TOP + HEIGHT;
  const last = steps.length - 1;
  const parts = steps.flatMap(([title, detail], i) => {
    return [
      box(left(i), TOP, WIDTH, HEIGHT, i === 0 || i === last ? 'box' : 'main'),
      text(middle(i), TOP + 22, title, 'bold', 'middle'),
      text(middle(i), TOP + 40, detail, 'small', 'middle'),
      ...(i === last ? [] : [arrow(`M${left(i) + WIDTH} ${TOP + HEIGHT / 2}H${left(i + 1)}`)]),
    ];
  });
  const database = bottom + 26;
  const fallback = bottom + 84;
  parts.push(
    box(left(2), database, 2 * WIDTH + GAP, 32, 'box'),
    text((middle(2) + middle(3)) / 2, database + 21, 'tuning database', '', 'middle'),
    box(left(4), database, WIDTH, 32, 'box'),
    text(middle(4), database + 21, "team's base", '', 'middle'),
    arrow(`M${middle(2)} ${bottom}V${database}`, '<->'),
    arrow(`M${middle(3)} ${bottom}V${database}`, '<->'),
    arrow(`M${left(3) + WIDTH} ${database + 16}H${left(4)}`, '<->'),
    arrow(`M${middle(0)} ${bottom}V${fallback}H${middle(last)}V${bottom}`),
    text(
      (middle(1) + middle(2)) / 2,
      fallback - 8,
      'on any failure: the original command',
      'small',
      'middle',
    ),
  );
  return picture(left(last) + WIDTH + 8, fallback + 12, 'From a command line to a tuned module', parts);
}
