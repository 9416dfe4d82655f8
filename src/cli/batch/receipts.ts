// Writes a remittance advice for each payee of a batch: the receipts of all payments to the payee.
import { Failure } from '../../formats/failure.js';
import { counted } from '../../formats/text.js';
import { totalsOf } from '../../wallet/batch/check.js';
import { type Row, grouped, payeeKey, payeeName } from '../../wallet/batch/row.js';
import type { Context } from '../context.js';
import { defineCommand, list } from '../define.js';
import { file, verbatim } from '../values.js';
import { remittancePage } from '../../terminal/cards/receipt.js';
import { remittanceList, type Remittance } from '../../terminal/views/payout-lists.js';
import { stateTimes } from '../tx/payments.js';
import { knownRows, rowOptions } from './status.js';
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
    await mkdir(folder, { recursive: true, mode: 0o700 }).catch((cause: unknown) => {
      throw notWritten(folder, cause);
    });
    const payees = [...grouped(paid, (row) => payeeKey(row) ?? row.ref).values()];
    const { live, out } = context;
    const limit = pLimit(readsAtOnce);
    const written: Remittance[] = [];
    const names = fileNames(payees.map(([first]) => first && payeeName(first)));
    await live.during(
      () => `Writing: ${written.length} of ${counted(payees.length, 'page')}`,
      () =>
        limit.map(payees, async (own, i) => {
          written.push(await writePage(own, join(folder, names[i] ?? ''), context));
        }),
    );
    const left = rows.length - paid.length;
    if (left > 0) out.say(`Without a receipt: ${counted(left, 'unpaid row')}.`);
    return written.toSorted((a, b) => (a.file < b.file ? -1 : 1));
  },
  view: list(remittanceList),
});

/** Returns a distinct file name for each payee, even on file systems that ignore letter case. */
function fileNames(payees: readonly (string | undefined)[]): string[] {
  const used = new Map<string, number>();
  return payees.map((payee = '') => {
    const plain = payee
      .normalize('NFC')
      .replaceAll(/[^\p{L}\p{N}\p{M}]+/gu, '-')
      .slice(0, 60);
    const slug = plain.replaceAll(/^-|-$/g, '').toLowerCase() || 'payee';
    const before = used.get(slug) ?? 0;
    used.set(slug, before + 1);
    return `${slug}${before === 0 ? '' : `.${before + 1}`}.html`;
  });
}

async function writePage(
  rows: readonly Row[],
  path: string,
  context: Context,
): Promise<Remittance> {
  const { client } = await context.account();
  const receipts = [];
  for (const { txnId = '' } of rows) {
    const txn = await client.transaction(txnId);
    receipts.push({
      transaction: txn,
      options: {
        now: client.serviceNow(),
        times: await stateTimes(txn.txnId, context),
      },
    });
  }
  const [first] = rows;
  const payee = first === undefined ? '' : payeeName(first);
  const amounts = totalsOf(rows).map(({ ccy, amount }) => ({ ccy, value: amount }));
  await writeFile(path, remittancePage(payee, amounts, receipts), { mode: 0o600 }).catch(
    (cause: unknown) => {
      throw notWritten(path, cause);
    },
  );
  return { payee, payments: rows.length, amounts, file: path };
}

const notWritten = (path: string, cause: unknown): Failure =>
  new Failure('usage', `${path} cannot be written.`, {
    hint: 'Choose another folder with --out.',
    cause,
  });
