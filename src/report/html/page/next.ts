// Open tasks by place.
import { counted } from '../../../system/format.ts';
import type { Task } from '../data.ts';
import { copyable } from './copy.ts';
import { element, isolated } from './dom.ts';
import { deviceText, type Drawing } from './rows.ts';
import { shapeOf } from '../shape-name.ts';

export const drawNext: Drawing = (host, { data }) => {
  for (const task of data.tasks) {
    const place = data.places[task.place]!;
    const count = task.items.length + task.more;
    const title =
      task.kind === 'missing'
        ? `${counted(count, 'workload')} without a record`
        : counted(count, 'unfinished search', 'unfinished searches');
    const [device, target, compiler] = [deviceText(place), place.target, place.compiler].map(isolated);
    const where = ['on ', device!, ', for ', target!, ', with ', compiler!];
    const items = task.items.map(({ workload, note }) =>
      element('li', {}, element('bdi', { title: workload }, shapeOf(workload)), element('span', {}, note)),
    );
    if (task.more > 0) items.push(element('li', { class: 'more' }, `and ${counted(task.more, 'other')}`));
    host.append(
      element(
        'article',
        {},
        element('h3', {}, title),
        element('p', { class: 'where' }, ...where),
        element('ul', { class: 'items' }, ...items),
        ...commandsOf(task),
      ),
    );
  }
};

function commandsOf({ command, programCommand, covered, items, more }: Task): Node[] {
  const program = [
    element('p', {}, 'With their own program in place of model.mlir:'),
    copyable(programCommand),
  ];
  if (command === null) return program;
  const all = more === 0 ? 'All of them' : 'The listed workloads';
  const these = covered === items.length ? all : `${covered} of the listed workloads`;
  // A printed page leaves it out.
  const pasted = { class: 'pasted' };
  return [element('div', pasted, element('p', {}, `${these}, as a program:`), copyable(command)), ...program];
}
