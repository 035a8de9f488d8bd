// The rule of textlint for docs/style.md.

/** Longest sentence, in words. Code counts as one word. */
const LONGEST = 35;

/** Text that a sentence must not have, each with the way out. A question may begin with "What" or "Who". */
const FORBIDDEN: readonly (readonly [text: RegExp, wayOut: string])[] = [
  [/^(?:who|whose|those (?:that|who)|that which)\b/i, 'begin with the noun'],
  [/\b(?:what|whatever|whoever|whichever|whom)\b/i, 'name the thing instead of a clause'],
  [/\b(?:that one|which is)\b/i, 'name the thing instead of a clause'],
  [/\bpurse\b/i, 'budget'],
  [/\bbeside\b/i, 'next to, or with'],
  [/\banew\b/i, 'again'],
  [/\bmend(?:s|ed|ing)?\b/i, 'fix'],
  [/\blast word\b/i, 'whole-program check'],
  [/\bmade[- ]up\b/i, 'generated'],
  [/\bin vain\b/i, 'without a result'],
  [/\btaken for\b/i, 'mistaken for, or counted as'],
  [/\bso many of them\b/i, 'the number'],
  [/\bwhere it is the case that\b/i, 'if'],
  [/\bfor the reason that\b/i, 'because'],
  [/\butili[sz]e/i, 'use'],
];

/** The sentences of a paragraph. */
const sentencesOf = (text: string): string[] =>
  text
    .replaceAll(/\s+/g, ' ')
    .trim()
    .split(/(?<=[.!?][)"]?) (?=[("A-Z0-9`])/);

/** The reasons why a text is not plain English, with the way out; none where it is. */
export function problemsOf(text: string): string[] {
  return sentencesOf(text).flatMap((sentence) => {
    const isQuestion = sentence.endsWith('?');
    const found = FORBIDDEN.flatMap(([forbidden, wayOut]) => {
      const [match] = forbidden.exec(sentence) ?? [];
      return match === undefined || isQuestion ? [] : [`"${match}": ${wayOut}`];
    });
    const words = sentence.split(' ').length;
    const problems = words > LONGEST ? [...found, `${words} words: ${LONGEST} at most`] : found;
    return problems.map((problem) => `${problem} (${sentence.slice(0, 50)})`);
  });
}

interface Node {
  readonly type: string;
  readonly value?: string;
  readonly children?: readonly Node[];
}

/** The words of a node of Markdown. */
function wordsOf({ type, value = '', children }: Node): string {
  if (children !== undefined) return children.map(wordsOf).join('');
  if (type === 'Code') return '`code`';
  return type === 'Str' ? value : ' ';
}

interface Context {
  readonly RuleError: new (message: string) => object;
  readonly report: (node: Node, error: object) => void;
}

export default ({ RuleError, report }: Context) => {
  const check = (node: Node) => {
    for (const problem of problemsOf(wordsOf(node))) report(node, new RuleError(problem));
  };
  return { Paragraph: check, Header: check, TableCell: check };
};
