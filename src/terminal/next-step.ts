// Renders every command that svcpay prints. Shows a failure as text: first the state of the money,
// then the reason, then the next command. For scripts, a failure is one line of JSON.
import { type Failure, type NextStep, isUnknown, type FailureKind } from '../formats/failure.js';
import { sanitize, widthOf, wrap } from './text.js';
import { toJson } from './rows/json.js';
import type { Canvas } from './terminal.js';

type NamedStep = Exclude<NextStep, { readonly do: 'run' }>;

/** The command that takes each step. */
export const commands: Readonly<Record<NamedStep['do'], string>> = {
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

export const commandFor = (step: NextStep, run: RunGlobals): string =>
  commandLine(
    step.do === 'run' ? step : { command: commands[step.do], argument: aboutOf(step) },
    run,
  );

/** What a step is about: a payment, a destination or a country. */
export function aboutOf({ do: _name, ...about }: NamedStep): string | undefined {
  const [only] = Object.values<string>(about);
  return only;
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
function shellWord(text: string): string {
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

/**
 * For each kind of failure, what happened to the money of a failure that does not state it itself.
 */
const moneyOf: Partial<Record<FailureKind, string>> = {
  usage: 'Not sent',
  'already-paid': 'Not sent',
  refused: 'Nothing moved',
  authentication: 'Nothing moved',
  'not-found': 'Nothing moved',
  limit: 'Not sent',
  pending: 'Outcome unknown',
  'outcome-unknown': 'Outcome unknown',
  declined: 'Not sent',
  temporary: 'Nothing moved',
  interrupted: 'Nothing moved',
  terminated: 'Nothing moved',
};

interface FailureViewOptions {
  /** Whether the command moves money, so that a failure mentions the state of the money. */
  readonly money: boolean;
  /**
   * The window to which svcpay wraps the text of the failure. In a pipe, which has no window, each
   * paragraph stays on one line.
   */
  readonly canvas?: Canvas | undefined;
  /** The options that the printed command repeats. */
  readonly run: RunGlobals;
}

export function failureLines(
  failure: Failure,
  { money, canvas, run }: FailureViewOptions,
): string[] {
  const paragraph = sanitize(money ? withMoney(failure) : failure.message);
  const lines = canvas === undefined ? [paragraph] : marked(paragraph, failure.kind, canvas);
  // svcpay does not wrap the request id, so that people can copy the id.
  if (failure.requestId !== undefined) lines.push(`  Request ${sanitize(failure.requestId)}`);
  const advice = money ? [failure, explanationOf(failure)] : [failure];
  return [...lines, ...advice.flatMap((each) => adviceLines(each, canvas, run))];
}

function withMoney({ kind, money, message }: Failure): string {
  const start = money === undefined ? moneyOf[kind] : undefined;
  return start === undefined ? message : `${start}. ${message}`;
}

/** The command that tells the story of a payment that was submitted and not paid. */
const explanationOf = ({ kind, txnId, ref }: Failure): Advice =>
  ref === undefined || (kind !== 'payment-failed' && kind !== 'outcome-unknown')
    ? {}
    : { hint: 'What happened', next: { do: 'explain', id: txnId ?? ref } };

/**
 * Draws the advice. If the advice does not fit on one line, each command has its own line. The
 * terminal wraps a command that does not fit into the window.
 */
function adviceLines(given: Advice, canvas: Canvas | undefined, run: RunGlobals): string[] {
  const { hint, next } = given;
  const advice = adviceOf(given, run);
  if (advice === undefined) return [];
  if (canvas === undefined || widthOf(advice) + 2 <= canvas.columns)
    return [`  ${sanitize(advice)}`];
  const text = next === undefined ? hint : hint && `${hint}:`;
  return [
    ...(text === undefined ? [] : wrap(sanitize(text), canvas.columns - 2)),
    ...(next === undefined ? [] : [sanitize(commandFor(next, run))]),
  ].map((line) => `  ${line}`);
}

/**
 * Draws a paragraph with the mark `✗`, with a yellow `●` for a payment under way, or with a dim `–`
 * for a command that the person ended, because neither has failed.
 */
function signOf(kind: FailureKind, style: Canvas['style']): string {
  if (isUnknown({ kind })) return style.yellow('●');
  return kind === 'declined' || kind === 'interrupted' ? style.dim('–') : style.red('✗');
}

function marked(paragraph: string, kind: FailureKind, { columns, style }: Canvas): string[] {
  const [first = '', ...rest] = wrap(paragraph, columns - mark.length);
  return [`${signOf(kind, style)} ${first}`, ...rest.map((line) => `  ${line}`)];
}

const mark = '✗ ';

/** Describes a service that gave no response or an error response. */
export const unreachedText = ({ status }: Failure): string =>
  status === undefined ? 'service not reached' : `service error (${status})`;

/** Converts a failure to JSON, which is the last line of stderr with `--json`. */
export const failureJson = (failure: Failure, run: RunGlobals): string =>
  toJson({ error: failureFields(failure, run) });

/** The fields of a failure, with the next command as a hint. */
export const failureFields = (failure: Failure, run: RunGlobals) => ({
  ...failure.toJSON(),
  hint: adviceOf(failure, run),
  next: undefined,
});
