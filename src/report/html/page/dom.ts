// Elements from data: texts, buttons, choices, and commands to copy. Text is never parsed as HTML.

/** An element with attributes and children. An attribute of true is empty, an attribute of false is left out. */
export function element<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Readonly<Record<string, string | number | boolean>> = {},
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(name);
  for (const [attribute, value] of Object.entries(attributes))
    if (value !== false) made.setAttribute(attribute, value === true ? '' : String(value));
  made.append(...children);
  return made;
}

/** Text that cannot change the direction of the text around it. */
export const isolated = (text: string): HTMLElement => element('bdi', {}, text);

export function button(label: string, action: () => void, attributes: Record<string, string> = {}) {
  const made = element('button', { type: 'button', ...attributes }, label);
  made.addEventListener('click', action);
  return made;
}

/** A labelled choice; `choose` is called with the value. */
export function choice(
  label: string,
  options: readonly (readonly [value: string, text: string])[],
  choose: (value: string) => void,
  attributes: Readonly<Record<string, string>> = {},
): HTMLLabelElement {
  const made = options.map(([value, text]) => element('option', { value }, text));
  const select = element('select', attributes, ...made);
  select.addEventListener('change', () => {
    choose(select.value);
  });
  return element('label', {}, element('span', {}, label), select);
}

/** A command with a button next to it. */
export function copyable(command: string): HTMLElement {
  const attributes = { tabindex: 0, role: 'group', 'aria-label': 'Command' };
  const pre = element('pre', attributes, element('code', {}, command));
  const said = element('span', { class: 'unseen', role: 'status' });
  const copy = button('Copy', () => {
    void copyText(pre).then((isCopied) => {
      copy.textContent = isCopied ? 'Copied' : 'Selected';
      said.textContent = isCopied
        ? 'The command is copied.'
        : 'The command is selected: copy it with the keyboard.';
    });
  });
  return element('div', { class: 'command' }, pre, copy, said);
}

/** Adds buttons to the commands in the page's text. */
export function makeCopyable(root: ParentNode): void {
  for (const pre of root.querySelectorAll('pre[data-copy]')) pre.replaceWith(copyable(pre.textContent));
}

/** A page on a disk may have no access to the clipboard: then the text is selected. */
async function copyText(pre: HTMLElement): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(pre.textContent);
    return true;
  } catch {
    getSelection()?.selectAllChildren(pre);
    return false;
  }
}
