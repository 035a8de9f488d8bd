// Commands with a button that copies them.
import { button, element } from './dom.ts';

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
      setTimeout(() => {
        copy.textContent = 'Copy';
      }, 2000);
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
