// Elements from data. Text is never parsed as HTML.

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
): { readonly label: HTMLLabelElement; readonly select: HTMLSelectElement } {
  const select = element('select', {}, ...options.map(([value, text]) => element('option', { value }, text)));
  select.addEventListener('change', () => {
    choose(select.value);
  });
  return { label: element('label', {}, element('span', {}, label), select), select };
}
