// Renders every command that svcpay prints, and the command for each step after a failure.
import type { Failure, NextStep } from '../formats/failure.js';
import { sanitize } from './sanitize.js';

type NamedStep = Exclude<NextStep, { readonly do: 'run' }>;

const commands: Readonly<Record<NamedStep['do'], string>> = {
  'sign-in': 'login',
  'see-wallets': 'wallets',
  'see-rates': 'rates',
  'see-limits': 'limits list',
  'see-profiles': 'profiles list',
  'see-payout-methods': 'payout methods',
  'see-institutions': 'payout institutions',
  'see-history': 'tx list --time 1y',
  'see-open-payments': 'tx pending',
  'check-installation': 'doctor',
  'start-new-journal': 'tx resume --new-journal',
  'upgrade-database': 'db upgrade',
  'create-tables': 'db upgrade --new',
  'import-payments': 'db import',
  'accept-database': 'config set database-id',
  allow: 'limits allow',
  confirm: 'tx confirm',
  resume: 'tx resume',
  retry: 'tx resume --retry',
  resolve: 'tx resolve',
  explain: 'tx explain',
  show: 'tx get',
  watch: 'tx watch',
};

/**
 * The global options that choose what a command acts on. A printed command repeats the options of
 * the run that prints it, because without them it would act on another account or service.
 */
export interface RunGlobals {
  readonly profile?: string | undefined;
  readonly account?: string | undefined;
  readonly budget?: string | undefined;
  readonly baseUrl?: string | undefined;
  readonly sandbox?: boolean | undefined;
  readonly insecure?: boolean | undefined;
}

/** The parts of a command. */
export interface Command {
  /** The name of the command, with options that need no quotes. */
  readonly command: string;
  readonly argument?: string | readonly string[] | undefined;
  /** Options by flag. An option without a value is true. An undefined option is left out. */
  readonly options?: Readonly<Record<string, string | true | undefined>> | undefined;
}

/** The commands that a run of a budget must not run, so that they are printed for the owner. */
const ownersOnly =
  /^(limits (?!list)|proposals|budget (?!show|list)|tx resolve|db|tx resume --new)/;

/** Renders a command for the shell. */
export function commandLine({ command, argument, options = {} }: Command, run: RunGlobals): string {
  const { profile, account, budget, baseUrl, sandbox, insecure } = run;
  const globals = {
    '--profile': profile,
    '--account': account,
    '--budget': ownersOnly.test(command) ? undefined : budget,
    '--base-url': baseUrl,
    '--sandbox': sandbox === true ? sandbox : undefined,
    '--insecure': insecure === true ? insecure : undefined,
  } as const;
  const given = [...optionWords(options)];
  const about = argument === undefined ? [] : [argument].flat();
  const isOption = about.some((word) => word.startsWith('-') && word !== '-');
  const quoted = about.map(shellWord);
  const words = isOption ? [...given, '--', ...quoted] : [...quoted, ...given];
  return ['svcpay', ...optionWords(globals), command, ...words].join(' ');
}

const optionWords = (options: NonNullable<Command['options']>): string[] =>
  Object.entries(options).flatMap(([flag, value]) => {
    if (value === undefined) return [];
    if (value === true) return [flag];
    return value.startsWith('-') ? [`${flag}=${shellWord(value)}`] : [flag, shellWord(value)];
  });

export function commandFor(step: NextStep, run: RunGlobals): string {
  if (step.do === 'run') return commandLine(step, run);
  const argument =
    'id' in step
      ? step.id
      : 'destination' in step
        ? step.destination
        : 'country' in step
          ? step.country
          : undefined;
  return commandLine({ command: commands[step.do], argument }, run);
}

export type Advice = Partial<Pick<Failure, 'hint' | 'next'>>;

/** Returns the advice for a failure: a text, a command, or both. */
export function adviceOf({ hint, next }: Advice, run: RunGlobals): string | undefined {
  if (next === undefined) return hint;
  const command = commandFor(next, run);
  return hint === undefined ? command : `${hint}: ${command}`;
}

/**
 * Quotes a word for bash or zsh, because the shell must not execute names that other people chose.
 */
export function shellWord(text: string): string {
  if (/^[\w@%+:,./-][\w@%+=:,./~-]*$/.test(text)) return text;
  // svcpay writes invisible characters as escape codes.
  return sanitize(text) === text
    ? `'${text.replaceAll("'", "'\\''")}'`
    : `$'${[...text].map(escaped).join('')}'`;
}

function escaped(character: string): string {
  if (character === "'" || character === '\\') return `\\${character}`;
  const shown = sanitize(character);
  return shown.replace(/^\\u\{(.*)\}$/, (_all, hex: string) => `\\U${hex.padStart(8, '0')}`);
}

/** Quotes an argument, and puts `--` before an argument that looks like an option. */
export const shellArgument = (text: string): string =>
  text.startsWith('-') && text !== '-' ? `-- ${shellWord(text)}` : shellWord(text);
