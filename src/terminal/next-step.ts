// What to do next, in the words of the command line: the one place that names the command for each step.
import type { Failure, NextStep } from '../formats/failure.js';

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
  'set-journal-aside': 'tx resume --new-journal',
  'upgrade-database': 'db upgrade',
  'accept-database': 'config set database-id',
  allow: 'limits allow',
  confirm: 'tx confirm',
  resume: 'tx resume',
  retry: 'tx resume --retry',
  show: 'tx get',
  watch: 'tx watch',
};

export function commandFor(step: NextStep): string {
  const about = 'id' in step ? step.id : 'destination' in step ? step.destination : 'country' in step ? step.country : undefined;
  return ['svcpay', commands[step.do], ...(about === undefined ? [] : [shellWord(about)])].join(' ');
}

/** What a person can do about a failure: the advice, the command, or both. */
export function adviceOf({ hint, next }: Pick<Failure, 'hint' | 'next'>): string | undefined {
  if (next === undefined) return hint;
  return hint === undefined ? commandFor(next) : `${hint}: ${commandFor(next)}`;
}

/** A word as a shell takes it back: what somebody else has named must not run as something else. */
export const shellWord = (text: string): string =>
  /^[\w@%+=:,./-][\w@%+=:,./~-]*$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
