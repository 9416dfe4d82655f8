// Customers withdraw their balance. Each withdrawal is paid once, even if the program dies in the
// middle and starts again.
//
//   SVCPAY_BASE_URL=… SVCPAY_API_KEY=… SVCPAY_API_SECRET=… node withdrawals.mjs w-1 anna@wallet.example 5000sat
import { argv, env } from 'node:process';
import { pathToFileURL } from 'node:url';
import {
  Failure,
  openPayments,
  openPostgresJournal,
  openSqliteJournal,
  WalletClient,
} from 'svcpay';

/** The limit on the sum of all withdrawals within 24 hours. */
const limits = { perPayment: {}, perDay: { BTC: '0.01' }, destinations: [] };

/** @param {{ client: WalletClient, journal: import('svcpay').Journal }} options */
export function openWithdrawals({ client, journal }) {
  const payments = openPayments({ client, journal, limits });
  return {
    /**
     * Finishes the submitted payments of an earlier run, and returns the outcome of each unfinished
     * payment. Call `resume` before the first payment.
     */
    resume: () => payments.resume(),

    /**
     * The reference of the payment is the id of the withdrawal, so a repeated call to `pay` does
     * not create a second payment.
     */
    async pay({ id, to, amount }) {
      try {
        const { txnId, txnState } = await payments.send({
          to,
          amount,
          ref: id,
          maxFee: { percent: '2' },
        });
        return { id, txnId, state: txnState };
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        // The outcome `pending` means that the payment was submitted and that its outcome is
        // unknown. Call `pay` again with the same id to get the outcome. A repeated call to `pay`
        // never pays a second time.
        return {
          id,
          txnId: error.txnId,
          state: error.kind,
          why: error.message,
          request: error.requestId,
        };
      }
    },
  };
}

if (import.meta.url === pathToFileURL(argv[1] ?? '').href) {
  const baseUrl = env.SVCPAY_BASE_URL ?? '';
  const client = new WalletClient({
    baseUrl,
    apiKey: env.SVCPAY_API_KEY ?? '',
    apiSecret: env.SVCPAY_API_SECRET ?? '',
  });
  const journal =
    env.SVCPAY_DATABASE_URL === undefined
      ? await openSqliteJournal('withdrawals.db')
      : await openPostgresJournal(env.SVCPAY_DATABASE_URL, { id: env.SVCPAY_DATABASE_ID });
  const withdrawals = openWithdrawals({ client, journal });
  await withdrawals.resume();
  const [id, to, amount] = argv.slice(2);
  console.log(JSON.stringify(await withdrawals.pay({ id, to, amount })));
  await journal.close();
  await client.close();
}
