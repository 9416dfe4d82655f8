// Returns the command for each step that is possible after a failure.
import type { Failure, NextStep } from '../formats/failure.js';
import { sanitize } from './sanitize.js';

const commands: Readonly<Record<NextStep['do'], string>> = {
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
  'import-payments': 'reconcile --import',
  'accept-database': 'config set database-id',
  allow: 'limits allow',
  confirm: 'tx confirm',
  resume: 'tx resume',
  retry: 'tx resume --retry',
  resolve: 'tx resolve',
  show: 'tx get',
  watch: 'tx watch',
};

export function commandFor(step: NextStep): string {
  const about =
    'id' in step
      ? step.id
      : 'destination' in step
        ? step.destination
        : 'country' in step
          ? step.country
          : undefined;
  return ['svcpay', commands[step.do], ...(about === undefined ? [] : [shellArgument(about)])].join(
    ' ',
  );
}

/** Returns the advice for a failure: a text, a command, or both. */
export function adviceOf({ hint, next }: Pick<Failure, 'hint' | 'next'>): string | undefined {
  if (next === undefined) return hint;
  return hint === undefined ? commandFor(next) : `${hint}: ${commandFor(next)}`;
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
  text.startsWith('-') ? `-- ${shellWord(text)}` : shellWord(text);
