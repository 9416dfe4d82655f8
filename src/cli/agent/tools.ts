// The one table of what an agent may do: each tool is a command of the command line, with what it takes, gives and does to money.
import { list, object, type OutputSchema } from './output-schemas.js';
import * as out from './output-schemas.js';

/** `reads`: changes nothing. `asks`: makes a quote or a request to be paid, which moves nothing. `pays`: may move money. */
export type Effect = 'reads' | 'asks' | 'pays';

export interface ToolRow {
  readonly name: string;
  readonly title: string;
  /** The command that does it. */
  readonly command: string;
  /** Options that it always has. */
  readonly always?: readonly string[] | undefined;
  readonly effect: Effect;
  readonly about: string;
  /** Inputs of the command that a tool has no use for, besides {@link neverTaken}. */
  readonly without?: readonly string[];
  /** Inputs that the command can do without and the tool cannot. */
  readonly needs?: readonly string[];
  /** What an input means to an agent, where the help of the command is not enough. */
  readonly inputs?: Readonly<Record<string, string>>;
  /** May pay a destination twice by mistake: takes `differentFrom`. */
  readonly once?: true;
  readonly gives: OutputSchema;
}

/** How long a tool waits for the end of something, files, further attempts: not for an agent to choose. */
export const neverTaken: ReadonlySet<string> = new Set([
  'wait',
  'waitTimeout',
  'quoteOnly',
  'retry',
  'qrFile',
  'fromFile',
  'newJournal',
  'all',
  'quotes',
]);

export const shortWait = '--wait-timeout=20s';
const reference =
  'names what this payment is for, such as order-118: the same reference for the same purpose, also after an error or a lost answer';
const payInputs = {
  ref: reference,
  maxFee: 'a lower limit for the fee than the one that holds here, written alike: 100sat or 1%',
};
const destination = 'an invoice, an address, an LNURL, a Lightning Address or a bitcoin: URI';
const amount = 'with its unit, e.g. 50000sat or 25usdt; an invoice has its own';
const irreversible =
  'Irreversible. Moves money at most once per reference, within the limits that a person has set.';
const notYet =
  'The result has outcome "pending" while its end is not known: call resume or watch, and do not pay again.';
const movesNothing = 'Moves nothing: the quote expires unless it is paid.';

export const tools: readonly ToolRow[] = [
  {
    name: 'wallets',
    title: 'Balances',
    command: 'wallets',
    effect: 'reads',
    gives: list('wallets', out.wallet),
    about:
      'Available, reserved and total balance per currency, in whole units (BTC, not satoshis).',
  },
  {
    name: 'account',
    title: 'Account',
    command: 'account',
    effect: 'reads',
    without: ['id'],
    gives: object({}),
    about: 'The account record as the service gives it.',
  },
  {
    name: 'rates',
    title: 'Exchange rates',
    command: 'rates',
    effect: 'reads',
    gives: list('rates', out.rate),
    about: 'The price of one unit of the base currency in the quote currency.',
  },
  {
    name: 'decode',
    title: 'Decode',
    command: 'decode',
    effect: 'reads',
    gives: out.decoded,
    needs: ['text'],
    about: 'Reads an invoice, address, LNURL, Lightning Address or bitcoin: URI offline.',
  },
  {
    name: 'transactions',
    title: 'History',
    command: 'tx list',
    effect: 'reads',
    gives: list('transactions', out.transaction),
    about: 'Transactions, newest first, a page at a time.',
  },
  {
    name: 'transaction',
    title: 'One transaction',
    command: 'tx get',
    effect: 'reads',
    gives: out.transaction,
    needs: ['id'],
    about: 'A transaction in its present state.',
  },
  {
    name: 'watch',
    title: 'Wait for a transaction',
    command: 'tx watch',
    always: [shortWait],
    effect: 'reads',
    gives: out.outcome,
    needs: ['ids'],
    inputs: { ids: 'a transaction id or a reference' },
    about: `Waits up to 20 seconds for the end of a transaction. ${notYet}`,
  },
  {
    name: 'pending',
    title: 'Unfinished payments',
    command: 'tx pending',
    effect: 'reads',
    gives: list('payments', out.pendingPayment),
    about: 'Unfinished payments of this wallet.',
  },
  {
    name: 'receive_lightning',
    title: 'Lightning invoice',
    command: 'receive lightning',
    always: ['--no-wait'],
    effect: 'asks',
    gives: out.transaction,
    needs: ['amount'],
    inputs: {
      ref: 'names what is asked for: the same reference for the same purpose asks for it once',
    },
    about: 'Makes a Lightning invoice to be paid by: sourceReq.reqDetails.paymentRequest.',
  },
  {
    name: 'receive_onchain',
    title: 'Bitcoin address for one payment',
    command: 'receive onchain',
    always: ['--no-wait'],
    effect: 'asks',
    gives: out.transaction,
    needs: ['amount'],
    inputs: {
      ref: 'names what is asked for: the same reference for the same purpose asks for it once',
    },
    about: 'Makes a Bitcoin address for one payment: sourceReq.reqDetails.address.',
  },
  {
    name: 'receive_address',
    title: 'Permanent address',
    command: 'receive address',
    effect: 'reads',
    gives: out.depositAddress,
    needs: ['ccy'],
    about: 'A permanent deposit address: btc, usdt (with chain) or lightning.',
  },
  {
    name: 'payout_methods',
    title: 'Payout methods',
    command: 'payout methods',
    effect: 'reads',
    gives: list('methods', out.payoutMethod),
    about: 'Countries, currencies and methods of fiat payouts.',
  },
  {
    name: 'institutions',
    title: 'Banks and mobile wallets',
    command: 'payout institutions',
    effect: 'reads',
    gives: list('institutions', out.institution),
    about: 'The institutions that payouts to a country reach, with their codes.',
  },
  {
    name: 'limits',
    title: 'Limits',
    command: 'limits list',
    effect: 'reads',
    gives: list('limits', out.limit),
    about: 'What a person allows to be spent, and how much of it is left.',
  },
  {
    name: 'quote',
    title: 'Quote a payment',
    command: 'send',
    always: ['--quote-only'],
    effect: 'asks',
    gives: out.quote,
    needs: ['destination'],
    inputs: { destination, amount, ref: reference },
    about: `What a payment would cost in full, fees included. ${movesNothing}`,
  },
  {
    name: 'quote_swap',
    title: 'Quote a swap',
    command: 'swap',
    always: ['--quote-only'],
    effect: 'asks',
    gives: out.quote,
    needs: ['words'],
    inputs: { ref: reference },
    about: `What an exchange between two own wallets would bring, fees included. ${movesNothing}`,
  },
  {
    name: 'quote_payout',
    title: 'Quote a payout',
    command: 'payout',
    always: ['--quote-only'],
    effect: 'asks',
    gives: out.quote,
    needs: ['amount'],
    inputs: { ref: reference },
    about: `What a fiat payout would cost in full, fees included. ${movesNothing}`,
  },
  {
    name: 'cancel',
    title: 'Cancel a quote',
    command: 'tx cancel',
    effect: 'asks',
    gives: out.transaction,
    needs: ['id'],
    about:
      'Cancels a quote that has not been paid. A payment that was submitted cannot be cancelled.',
  },
  {
    name: 'pay',
    title: 'Pay',
    command: 'send',
    always: ['--yes', shortWait],
    effect: 'pays',
    gives: out.outcome,
    needs: ['destination', 'ref'],
    inputs: { ...payInputs, destination, amount },
    once: true,
    about: `Pays an invoice, an address, an LNURL or a Lightning Address. ${irreversible} ${notYet}`,
  },
  {
    name: 'swap',
    title: 'Swap',
    command: 'swap',
    always: ['--yes', shortWait],
    effect: 'pays',
    gives: out.outcome,
    needs: ['words', 'ref'],
    inputs: payInputs,
    about: `Exchanges between two own wallets. ${irreversible} ${notYet}`,
  },
  {
    name: 'payout',
    title: 'Pay out',
    command: 'payout',
    always: ['--yes', '--no-wait'],
    effect: 'pays',
    gives: out.outcome,
    needs: ['amount', 'ref'],
    inputs: payInputs,
    once: true,
    about: `Pays out fiat to a bank account or a mobile wallet. ${irreversible} ${notYet}`,
  },
  {
    name: 'resume',
    title: 'Resume a payment',
    command: 'tx resume',
    always: [shortWait],
    effect: 'pays',
    gives: out.outcome,
    needs: ['id'],
    inputs: { id: 'the reference or the transaction id of the payment' },
    about: `Finishes or reports an unfinished payment; makes no second payment. ${notYet}`,
  },
];
