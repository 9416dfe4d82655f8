// Transactions in words and as a table: what kind it is, what moved, how far it is.
import { formatAmount, fromWire, money, type Money } from '../../formats/amount.js';
import type { ListedTransaction } from '../../api/types.js';
import type { ChalkInstance } from 'chalk';
import { relativeTime } from '../time.js';
import type { Column, ListView } from '../rows/view.js';

type Side = ListedTransaction['sourceReq'];

const sendNames: Readonly<Record<string, string>> = {
  lightning: 'Lightning send',
  lnurl: 'Lightning send',
  'on-chain': 'On-chain send',
  tron: 'USDT send',
  eth: 'USDT send',
};

const receiveNames: Readonly<Record<string, string>> = {
  lightning: 'Lightning receive',
  'on-chain': 'On-chain receive',
};

/** `Lightning receive`, `Swap`, `Payout`: the kind follows from the two methods. */
export function transactionKind({ sourceReq, destReq }: Pick<ListedTransaction, 'sourceReq' | 'destReq'>): string {
  const source = sourceReq.method ?? '';
  const dest = destReq.method ?? '';
  if (source === 'servicepay')
    return dest === 'servicepay' ? 'Swap' : (sendNames[dest] ?? (dest === '' ? 'Send' : 'Payout'));
  return receiveNames[source] ?? (source === '' ? 'Transaction' : 'Deposit');
}

/** What settled on a side, else what was asked for; undefined while the service tells neither. */
export function amountOf(side: Side): Money | undefined {
  const amount = side.amtSettled ?? side.amtRequested;
  return amount === undefined || amount === null || !side.ccy ? undefined : money(side.ccy, fromWire(amount));
}

/** `0.00100000 BTC → 70.79 USDT` where both sides are known, else the amount that arrives, else the one that leaves. */
export function movedText({ sourceReq, destReq }: Pick<ListedTransaction, 'sourceReq' | 'destReq'>): string {
  const from = amountOf(sourceReq);
  const to = amountOf(destReq);
  if (from !== undefined && to !== undefined && from.ccy !== to.ccy)
    return `${formatAmount(from)} → ${formatAmount(to)}`;
  const known = to ?? from;
  return known === undefined ? '–' : formatAmount(known);
}

/** Green for done, red for ended without success, yellow for what is still on its way; the word says it as well. */
export function stateStyle(state: string, style: ChalkInstance): (text: string) => string {
  if (state === 'completed') return style.green;
  if (['failed', 'rejected', 'error'].includes(state)) return style.red;
  return ['expired', 'usercanceled'].includes(state) ? style.dim : style.yellow;
}

const rowsOnly = (title: string, value: Column<ListedTransaction>['value']): Column<ListedTransaction> => ({
  title,
  value,
  only: 'rows',
});

const wireAmount = (amount: number | null | undefined): Money['value'] | undefined =>
  amount === undefined || amount === null ? undefined : fromWire(amount);

/** A page of the history. `now` is the present in epoch ms, for relative times; rows for scripts carry exact ones. */
export function transactionList(now: number): ListView<ListedTransaction> {
  return {
    columns: [
      {
        title: 'When',
        value: ({ createdAt }) => (typeof createdAt === 'number' ? new Date(createdAt).toISOString() : ''),
        text: ({ createdAt }) => (typeof createdAt === 'number' ? relativeTime(createdAt, now) : '–'),
        style: (cell, style) => style.dim(cell),
        priority: 1,
      },
      { title: 'What', value: transactionKind },
      { title: 'Amount', value: movedText, align: 'right', only: 'screen' },
      rowsOnly('Source currency', ({ sourceReq }) => sourceReq.ccy),
      rowsOnly('Source amount', ({ sourceReq }) => amountOf(sourceReq)?.value),
      rowsOnly('Destination currency', ({ destReq }) => destReq.ccy),
      rowsOnly('Destination amount', ({ destReq }) => amountOf(destReq)?.value),
      rowsOnly('Service fee', ({ sourceReq }) => wireAmount(sourceReq.servicepayFees)),
      rowsOnly('Network fee', ({ sourceReq }) => wireAmount(sourceReq.networkFees)),
      {
        title: 'State',
        value: ({ txnState }) => txnState,
        style: (cell, style, row) => stateStyle(row.txnState, style)(cell),
      },
      { title: 'Transaction', value: ({ txnId }) => txnId, style: (cell, style) => style.dim(cell), below: true },
      rowsOnly('Reference', ({ extRefId }) => extRefId),
    ],
    quiet: ({ txnId }) => txnId,
    empty: 'No transactions match.',
  };
}
