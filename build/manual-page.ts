// Writes the manual page for `man svcpay`.
import { exitCodeRows, topics, type Flag, type Page } from '../src/cli/help/help.js';
import type { Shape } from '../src/cli/values.js';

export function manualPage(pages: readonly Page[]): string {
  const [root] = pages;
  const sections = [...new Set(pages.flatMap(({ section }) => section ?? []))];
  return [
    '.TH SVCPAY 1',
    ...heading('NAME', [`svcpay \\- ${roff(root?.summary ?? '')}`]),
    ...heading('SYNOPSIS', ['.B svcpay', '[\\fIoptions\\fR] [\\fIcommand\\fR]']),
    ...heading('GLOBAL OPTIONS', (root?.flags ?? []).flatMap(flagLines)),
    ...sections.flatMap((section) => [
      `.SH ${roff(section.toUpperCase())}`,
      ...pages.filter((page) => sectionOf(page, pages) === section).flatMap(commandLines),
    ]),
    ...heading(
      'EXIT STATUS',
      exitCodeRows.flatMap(({ code, meaning }) => item(String(code), meaning)),
    ),
    ...topics.flatMap(({ name, parts }) => heading(name.toUpperCase(), parts.flatMap(partLines))),
    '',
  ].join('\n');
}

const sectionOf = ({ path }: Page, pages: readonly Page[]): string | undefined =>
  pages.find((each) => each.path !== '' && each.path === path.split(' ')[0])?.section;

const heading = (title: string, lines: readonly string[]): string[] => [
  `.SH ${roff(title)}`,
  ...lines,
];

function commandLines({
  path,
  aliases,
  summary,
  arguments: slots,
  flags,
  examples,
  runs,
}: Page): string[] {
  const also = aliases.length === 0 ? '' : ` (also: ${aliases.join(', ')})`;
  const usage = [
    `\\fBsvcpay ${roff(path)}\\fR`,
    ...(flags.length > 0 ? ['[\\fIoptions\\fR]'] : []),
    ...slots.map(slotText),
  ].join(' ');
  return [
    `.SS ${roff(path)}`,
    `${roff(summary.charAt(0).toUpperCase() + summary.slice(1))}${roff(also)}.`,
    ...(runs ? ['.PP', usage] : []),
    ...slots.flatMap((slot) => item(slot.placeholder, slot.summary)),
    ...flags.flatMap(flagLines),
    ...examples.flatMap(([line, purpose]) => [
      '.PP',
      '.RS 4',
      '.nf',
      roff(line),
      '.fi',
      '.RS 4',
      roff(purpose),
      '.RE',
      '.RE',
    ]),
  ];
}

function slotText({ placeholder, required, kind }: Shape): string {
  const name = `\\fI${roff(placeholder)}\\fR${kind === 'words' ? '...' : ''}`;
  return required ? name : `[${name}]`;
}

const flagLines = ({ names, value, summary }: Flag): string[] =>
  item(names.join(', ') + (value === undefined ? '' : ` ${value.placeholder}`), summary);

const partLines = (part: (typeof topics)[number]['parts'][number]): string[] =>
  typeof part === 'string'
    ? ['.PP', roff(part)]
    : part.flatMap(([term, meaning]) => item(term, meaning));

const item = (term: string, text: string): string[] => ['.TP', `\\fB${roff(term)}\\fR`, roff(text)];

/** Escapes text for roff, which reads a leading period or quote as a request. */
const roff = (text: string): string =>
  text.replaceAll('\\', '\\e').replaceAll('-', '\\-').replace(/^[.']/, '\\&$&');
