// What every exit code says of the money.
import { exitCodes } from '../../formats/failure.js';

const meanings: Readonly<Record<keyof typeof exitCodes | 'done', string>> = {
  done: 'done',
  unexpected: 'unexpected',
  usage: 'usage or invalid input, nothing was sent',
  refused: 'the service refused (4xx)',
  authentication: 'authentication or permission',
  'not-found': 'not found',
  'payment-failed': 'the payment ended in failed, rejected, expired, error or usercanceled',
  'books-differ': 'the statement does not tie, or reconcile found a difference; nothing was sent',
  limit: 'not enough funds, a limit or --max-fee stopped it',
  pending: 'outcome not known yet; the message names the command that resumes the payment',
  declined: 'declined at the prompt, or a question was needed and could not be asked',
  temporary: 'temporary (network, 5xx, 429), nothing moved, safe to run again',
  interrupted: 'interrupted before anything moved',
};

export const exitCodeRows: readonly { readonly code: number; readonly kind: string; readonly meaning: string }[] = [
  { code: 0, kind: 'done', meaning: meanings.done },
  ...Object.entries(exitCodes).map(([kind, code]) => ({ code, kind, meaning: meanings[kind as keyof typeof exitCodes] })),
];
