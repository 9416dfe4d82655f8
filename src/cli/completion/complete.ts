// Completes the word at the cursor in every shell, from the command pages and local data.
import type { Flag, Page, Slot } from '../help/help.js';
import type { Suggested } from '../values.js';

export interface Candidate {
  readonly text: string;
  readonly about?: string | undefined;
}

export type SuggestionsOf = (kind: Suggested) => readonly Candidate[];

/** The candidates for a completion, or `files` if the shell should complete file names. */
export type Completion = 'files' | readonly Candidate[];

/**
 * Completes the last word, which may be empty.
 * @param words the words after the program's name
 */
export function complete(
  words: readonly string[],
  pages: readonly Page[],
  suggestionsOf: SuggestionsOf,
): Completion {
  const current = words.at(-1) ?? '';
  const { page, given, pending, isOver } = walk(words.slice(0, -1), pages);
  if (pending !== undefined)
    return matching(valuesOf(pending, current, page, suggestionsOf), current);
  if (isOver) return fillArgument(page, given, current, pages, suggestionsOf);
  const [name = '', value] = current.split(/=(.*)/s, 2);
  if (value !== undefined && name.startsWith('--')) {
    const values = valuesOf(flagNamed(name, page, pages), value, page, suggestionsOf);
    return values === 'files'
      ? values
      : matching(
          values.map((each) => ({ ...each, text: `${name}=${each.text}` })),
          current,
        );
  }
  if (current.startsWith('-')) return matching(flagCandidates(page, pages), current);
  return fillArgument(page, given, current, pages, suggestionsOf);
}

interface CursorContext {
  readonly page: Page;
  /** The arguments before the word to complete. */
  readonly given: readonly string[];
  /** The option whose value is being completed. */
  readonly pending: Flag | undefined;
  /** Whether `--` precedes the word to complete, which then is not an option. */
  readonly isOver: boolean;
}

function walk(words: readonly string[], pages: readonly Page[]): CursorContext {
  let page = pageAt('', pages);
  let given: string[] = [];
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index] ?? '';
    if (word === '--')
      return {
        page,
        given: [...given, ...words.slice(index + 1)],
        pending: undefined,
        isOver: true,
      };
    if (word.startsWith('-') && word !== '-') {
      const flag = flagNamed(word, page, pages);
      if (flag?.value === undefined) continue;
      if (index === words.length - 1) return { page, given, pending: flag, isOver: false };
      index += 1;
      continue;
    }
    const next = given.length === 0 ? childOf(page, word, pages) : undefined;
    if (next === undefined) given = [...given, word];
    else page = next;
  }
  return { page, given, pending: undefined, isOver: false };
}

const nowhere: Page = {
  path: '',
  name: '',
  summary: '',
  aliases: [],
  runs: false,
  money: false,
  commands: [],
  arguments: [],
  flags: [],
  formats: [],
  fields: [],
  examples: [],
};

const pageAt = (path: string, pages: readonly Page[]): Page =>
  pages.find((each) => each.path === path) ?? nowhere;

function childOf({ path }: Page, word: string, pages: readonly Page[]): Page | undefined {
  const start = path === '' ? '' : `${path} `;
  return pages.find(
    (each) =>
      each.path === start + each.name &&
      (each.name === word || each.aliases.includes(word)) &&
      each.path !== path,
  );
}

const flagNamed = (name: string, page: Page, pages: readonly Page[]): Flag | undefined =>
  [...page.flags, ...pageAt('', pages).flags].find(({ names }) => names.includes(name));

const flagCandidates = (page: Page, pages: readonly Page[]): Candidate[] => {
  const flags = page.path === '' ? page.flags : [...page.flags, ...pageAt('', pages).flags];
  const own = flags.flatMap(({ names, summary }) =>
    names.filter((name) => name.startsWith('--')).map((text) => ({ text, about: summary })),
  );
  return [...own, { text: '--help', about: 'display help for command' }];
};

function valuesOf(
  flag: Flag | undefined,
  current: string,
  { formats, fields }: Page,
  suggestionsOf: SuggestionsOf,
): Completion {
  if (flag?.value === undefined) return [];
  // In a comma-separated list, svcpay completes the text after the last comma.
  if (flag.names.includes('--fields'))
    return fields.map((name) => ({ text: current.replace(/[^,]*$/, name) }));
  const values = slotValues(flag.value, suggestionsOf);
  return flag.names.includes('--output') && values !== 'files'
    ? [...values, ...formats.filter(isNew(values)).map((text) => ({ text }))]
    : values;
}

const isNew =
  (among: readonly Candidate[]) =>
  (text: string): boolean =>
    !among.some((each) => each.text === text);

function slotValues(
  { choices, offers = choices, suggests }: Slot,
  suggestionsOf: SuggestionsOf,
): Completion {
  if (suggests === 'file') return 'files';
  return [
    ...offers.map((text) => ({ text })),
    ...(suggests === undefined ? [] : suggestionsOf(suggests)),
  ];
}

function fillArgument(
  page: Page,
  given: readonly string[],
  current: string,
  pages: readonly Page[],
  suggestionsOf: SuggestionsOf,
): Completion {
  const last = page.arguments.at(-1);
  const slot = page.arguments[given.length] ?? (last?.repeated === true ? last : undefined);
  if (slot?.suggests === 'command') return matching(commandWords(given, slot, pages), current);
  const commands =
    given.length === 0
      ? page.commands.map(({ name, summary }) => ({ text: name, about: summary }))
      : [];
  const values = slot === undefined ? [] : slotValues(slot, suggestionsOf);
  return values === 'files' ? values : matching([...commands, ...values], current);
}

/** The words that `help` accepts: command names and, as the first word, topics. */
function commandWords(
  given: readonly string[],
  { choices }: Slot,
  pages: readonly Page[],
): Candidate[] {
  let page: Page | undefined = pageAt('', pages);
  for (const word of given) page = page && childOf(page, word, pages);
  const topics = given.length === 0 ? choices.map((text) => ({ text, about: 'topic' })) : [];
  return [
    ...(page?.commands ?? []).map(({ name, summary }) => ({ text: name, about: summary })),
    ...topics,
  ];
}

const matching = (values: Completion, current: string): Completion =>
  values === 'files' ? values : values.filter(({ text }) => text.startsWith(current));
