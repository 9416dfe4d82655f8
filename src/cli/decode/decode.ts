// Decodes any destination offline.
import { inspectInvoice } from '../../formats/bolt11/decode.js';
import { describeDestination } from '../../formats/describe.js';
import { detectDestination } from '../../formats/destination.js';
import { decodedFields, decodedView } from '../../terminal/cards/decoded-view.js';
import { objectView } from '../../terminal/cards/card.js';
import { defineCommand, type Deps, record } from '../define.js';
import { readStdin } from '../process.js';
import { text } from '../values.js';

export const decode = defineCommand({
  arguments: {
    text: text('TEXT').describe('an invoice, address, LNURL or bitcoin: URI; - for stdin'),
  },
  examples: [
    ['svcpay decode lnbc25u1…', 'shows payee, amount and expiry'],
    ['svcpay decode bc1q… --json --fields network,type', 'prints two fields, for a script'],
  ],
  async run({ text }, { stdin, out, now }: Deps<'stdin' | 'out' | 'now'>) {
    let whyUnpayable: string | undefined;
    const word = text === '-' ? (await readStdin({ stdin })).trim() : text;
    const destination = detectDestination(word, (given) => {
      const read = inspectInvoice(given);
      whyUnpayable = read.whyUnpayable;
      return read.invoice;
    });
    const described = describeDestination(destination, now());
    if (whyUnpayable === undefined) return { destination, decoded: described };
    out.warn(`This invoice cannot be paid: ${whyUnpayable}.`);
    return { destination, decoded: { ...described, unpayable: whyUnpayable } };
  },
  view: record(objectView(decodedFields), ({ decoded }: { decoded: object }) => decoded),
  adapt: ({ destination, decoded }, _inputs, { now }) => decodedView(destination, decoded, now()),
});
