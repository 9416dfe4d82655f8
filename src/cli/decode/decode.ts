// Decodes any destination offline.
import { inspectInvoice } from '../../formats/bolt11/decode.js';
import { describeDestination } from '../../formats/describe.js';
import { detectDestination } from '../../formats/destination.js';
import { decodedFields, decodedView } from '../../terminal/cards/decoded-view.js';
import { defineCommand } from '../define.js';
import { readStdin } from '../stdin.js';
import { text } from '../values.js';

export const decode = defineCommand({
  prints: decodedFields,
  arguments: {
    text: text('TEXT').describe('an invoice, address, LNURL or bitcoin: URI; - for stdin'),
  },
  examples: [
    ['svcpay decode lnbc25u1…', 'shows payee, amount and expiry'],
    ['svcpay decode bc1q… --json --fields network,type', 'prints two fields, for a script'],
  ],
  async run({ text }, context) {
    let whyUnpayable: string | undefined;
    const word = text === '-' ? (await readStdin(context)).trim() : text;
    const destination = detectDestination(word, (given) => {
      const read = inspectInvoice(given);
      whyUnpayable = read.whyUnpayable;
      return read.invoice;
    });
    const described = describeDestination(destination, context.now());
    const decoded =
      whyUnpayable === undefined ? described : { ...described, unpayable: whyUnpayable };
    if (whyUnpayable !== undefined)
      context.out.warn(`This invoice cannot be paid: ${whyUnpayable}.`);
    await context.out.record(decoded, decodedView(destination, decoded, context.now()));
  },
});
