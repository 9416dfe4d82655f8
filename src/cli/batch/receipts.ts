// Writes a remittance advice for each payee of a batch: the receipts of all payments to the payee.
import { invalid } from '../../formats/failure.js';
import { counted, grouped } from '../../formats/text.js';
import { money } from '../../formats/amount.js';
import { type Row, payeeKey, payeeName, sumsOf } from '../../wallet/batch/row.js';
import type { Context } from '../context.js';
import { defineCommand, list } from '../define.js';
import { file, verbatim } from '../values.js';
import { remittancePage } from '../../terminal/cards/receipt.js';
import { remittanceList, type Remittance } from '../../terminal/views/payout-lists.js';
import { stateTimes } from '../tx/payments.js';
import { rowOptions } from './batch-check.js';
import { knownRows } from './status.js';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pLimit from 'p-limit';

const readsAtOnce = 4;

export const batchReceipts = defineCommand({
  arguments: { file: file().describe('the batch file, or the name of a run') },
  options: {
    folder: verbatim('DIR').describe('folder for the pages, one for each payee'),
    ...rowOptions,
  },
  examples: [
    ['svcpay batch receipts payroll.csv --folder advice', 'writes a page to print for each payee'],
  ],
  changes: true,
  async run({ file, folder, ...flags }, context: Context) {
    const rows = await knownRows(file, flags, context);
    const paid = rows.filter(({ state }) => state === 'paid');
    await mkdir(folder, { recursive: true, mode: 0o700 }).catch(notWritten(folder));
    const payees = [...grouped(paid, (row) => payeeKey(row) ?? row.ref).values()];
    const names = payees.map(([first]) => (first === undefined ? '' : payeeName(first)));
    const files = fileNames(names);
    const written: Remittance[] = [];
    const { live, out } = context;
    await live.during(
      () => `Writing: ${written.length} of ${counted(payees.length, 'page')}`,
      () =>
        pLimit(readsAtOnce).map(payees, async (own, i) => {
          const path = join(folder, files[i] ?? '');
          written.push(await writePage(names[i] ?? '', own, path, context));
        }),
    );
    const left = rows.length - paid.length;
    if (left > 0) out.say(`Without a receipt: ${counted(left, 'unpaid row')}.`);
    return written.toSorted((a, b) => (a.file < b.file ? -1 : 1));
  },
  view: list(remittanceList),
});

/** Returns a distinct file name for each payee, even on file systems that ignore letter case. */
function fileNames(payees: readonly string[]): string[] {
  const used = new Map<string, number>();
  return payees.map((payee) => {
    const plain = payee
      .normalize('NFC')
      .replaceAll(/[^\p{L}\p{N}\p{M}]+/gu, '-')
      .slice(0, 60);
    const slug = plain.replaceAll(/^-|-$/g, '').toLowerCase() || 'payee';
    const count = (used.get(slug) ?? 0) + 1;
    used.set(slug, count);
    return `${slug}${count === 1 ? '' : `.${count}`}.html`;
  });
}

async function writePage(
  payee: string,
  rows: readonly Row[],
  path: string,
  context: Context,
): Promise<Remittance> {
  const { client } = await context.account();
  const receipts = [];
  for (const { txnId = '' } of rows) {
    const transaction = await client.transaction(txnId);
    const times = await stateTimes(txnId, context);
    receipts.push({ transaction, options: { now: client.serviceNow(), times } });
  }
  const amounts = sumsOf(rows.map(({ ccy, amount }) => money(ccy, amount)));
  const page = remittancePage(payee, amounts, receipts);
  await writeFile(path, page, { mode: 0o600 }).catch(notWritten(path));
  return { payee, payments: rows.length, amounts, file: path };
}

const notWritten =
  (path: string) =>
  (cause: unknown): never => {
    throw invalid(`${path} cannot be written.`, {
      hint: 'Choose another folder with --folder.',
      cause,
    });
  };
