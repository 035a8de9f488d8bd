// Open tasks by place.
import { counted } from '../../../system/format.ts';
import { copyable, element, isolated } from './dom.ts';
import type { Drawing } from './rows.ts';

export const drawNext: Drawing = (host, { data }) => {
  for (const { kind, place, items, more, commands } of data.tasks) {
    const { deviceName, target, compiler } = data.places[place]!;
    const count = items.length + more;
    const title =
      kind === 'missing'
        ? `${counted(count, 'workload')} without a record`
        : counted(count, 'unfinished search', 'unfinished searches');
    const where = ['on ', isolated(deviceName), ', for ', isolated(target), ', with ', isolated(compiler)];
    const list = items.map(({ workload, shape, note }) =>
      element('li', {}, element('bdi', { title: workload }, shape), element('span', {}, note)),
    );
    if (more > 0) list.push(element('li', { class: 'more' }, `and ${counted(more, 'other')}`));
    host.append(
      element(
        'article',
        {},
        element('h3', {}, title),
        element('p', { class: 'where' }, ...where),
        element('ul', { class: 'items' }, ...list),
        ...commands.flatMap(({ how, command }) => [element('p', {}, how), copyable(command)]),
      ),
    );
  }
};
