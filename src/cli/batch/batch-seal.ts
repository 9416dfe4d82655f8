// Seals a batch on this machine. svcpay stores each seal that it makes, and compares the file with
// the seal before any payment.
import { join } from 'node:path';
import { Failure } from '../../formats/failure.js';
import { openDocument } from '../../store/files/document.js';
import { sanitize } from '../../terminal/sanitize.js';
import { sealedOf, sealedSchema, sealOf, unsealed, type Sealed } from '../../wallet/batch/seal.js';
import type { Context } from '../context.js';
import { termsOf as termsText } from '../../wallet/payment/trail.js';
import { flagName } from '../values.js';
import { termsOf } from '../payment/payment-options.js';
import type { CheckedFile } from './batch-check.js';
import type { BatchFlags } from './batch-options.js';

/**
 * Returns the seal of the batch file, or undefined if neither --seal nor --sealed is given. Throws
 * Failure `usage` if the batch file differs from the sealed file.
 */
export async function checkSeal(
  { check }: CheckedFile,
  flags: BatchFlags,
  context: Context,
): Promise<string | undefined> {
  if (!flags.seal && flags.sealed === undefined) return undefined;
  const { scope } = await context.account();
  const wallets = [...new Set(check.rows.map(({ from }) => from))];
  const terms = Object.fromEntries([
    ['account', scope],
    ...wallets.flatMap((ccy) =>
      Object.entries(termsText(termsOf(flags, ccy))).flatMap(([term, text]) =>
        typeof text === 'string' ? [[`${flagName(term)} of the ${ccy} wallet`, text]] : [],
      ),
    ),
  ]);
  const now = sealedOf(check.rows, terms);
  const seal = sealOf(now);
  if (flags.sealed !== undefined && flags.sealed !== seal)
    throw notSealed(now, flags.sealed, context);
  if (flags.seal) await sealAt(seal, context).update(() => now);
  return seal;
}

const sealAt = (seal: string, { home }: Pick<Context, 'home'>) =>
  openDocument(join(home.data, 'seals'), seal, sealedSchema);

/** Lists the differences from the sealed file on stderr, if this home made the seal. */
function notSealed(now: Sealed, seal: string, context: Context): Failure {
  const kept = sealAt(seal, context).read();
  const [first, ...others] = unsealed(now, kept.rows.length === 0 ? undefined : kept);
  for (const each of others) context.terminal.stderr.write(`${sanitize(each)}\n`);
  return new Failure(
    'usage',
    'the batch differs from the sealed batch' +
      `${first === undefined ? ', and this home has no copy of the sealed rows' : `: ${first}`}.`,
    {
      money: 'Nothing was sent',
      hint: 'Check the file, then seal it again with --dry-run --seal.',
    },
  );
}
