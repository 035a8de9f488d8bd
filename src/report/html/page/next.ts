// Open tasks by place.
import { counted } from '../../../system/format.ts';
import type { Task } from '../data.ts';
import { copyable } from './copy.ts';
import { element, isolated } from './dom.ts';
import type { Drawing } from './page.ts';
import { deviceText } from './rows.ts';
import { shapeOf } from '../shape-name.ts';

export const drawNext: Drawing = (host, { data }) => {
  for (const task of data.tasks) {
    const { target, compiler } = data.places[task.place]!;
    const count = task.items.length + task.more;
    const title =
      task.kind === 'missing'
        ? `${counted(count, 'workload')} without a record`
        : counted(count, 'unfinished search', 'unfinished searches');
    const rest =
      task.more === 0 ? null : element('li', { class: 'more' }, `and ${counted(task.more, 'other')}`);
    host.append(
      element(
        'article',
        {},
        element('h3', {}, title),
        element(
          'p',
          { class: 'where' },
          'on ',
          isolated(deviceText(data.places[task.place]!)),
          ', for ',
          isolated(target),
          ', with ',
          isolated(compiler),
        ),
        element(
          'ul',
          { class: 'items' },
          ...task.items.map(({ workload, note }) =>
            element(
              'li',
              {},
              element('bdi', { title: workload }, shapeOf(workload)),
              element('span', {}, note),
            ),
          ),
          rest,
        ),
        ...commandsOf(task),
      ),
    );
  }
  return () => undefined;
};

function commandsOf({ command, programCommand, covered, items, more }: Task): Node[] {
  const program = [
    element('p', {}, 'With their own program in place of model.mlir:'),
    copyable(programCommand),
  ];
  if (command === null) return program;
  const isAll = covered === items.length;
  const these = !isAll
    ? `${covered} of the listed workloads`
    : more === 0
      ? 'All of them'
      : 'The listed workloads';
  // Paper has no use for it.
  const own = element(
    'div',
    { class: 'pasted' },
    element('p', {}, `${these}, as a program:`),
    copyable(command),
  );
  return [own, ...program];
}
