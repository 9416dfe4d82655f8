// What the people of a schedule ask for: each instruction with the ways to type it, and the
// transactions of the service that belong to it.
import { bitcoinAddress, tronAddress } from '../support/destinations.js';
import { payoutWords } from '../support/payout.js';
import type { ModelTransaction } from './service-quotes.js';
import { invoice, type Some } from './wishes.js';
import type { Chance } from './world.js';

/** What a person asks for, once, however often the person types it. */
export interface Asked {
  readonly name: string;
  readonly verb: 'send' | 'swap' | 'payout' | 'proposals';
  /** The ways to write the destination, the first as it reaches the service. */
  readonly to: Some<string>;
  readonly amount: string | undefined;
  readonly more: readonly string[];
  /** The reference, or undefined for an instruction that is given only in batches, or only once. */
  readonly ref: string | undefined;
}

type Kind = Pick<Asked, 'verb' | 'to' | 'amount' | 'more'>;

const account = (number: number): string => `98765432${10 + number}`;
/** The amount of a swap, by which its transactions are recognized. */
const swapped = (number: number): number => number + 20;

function drawKind(number: number, chance: Chance): Kind {
  const sats = `${1_000 + number}sat`;
  const user: Some<string> = [`user${number}@pay.example`, `person${number}`];
  const [bitcoin, tron]: Some<string>[] = [[bitcoinAddress(number)], [tronAddress(number)]];
  const send = (to: Some<string> = user, amount?: string, ...more: string[]): Kind => ({
    verb: 'send',
    to,
    amount,
    more,
  });
  return chance.pick<Kind>([
    send([invoice(number).invoice]),
    send(user, sats),
    send(user, `${number + 5}usd`, '--from', 'btc'),
    send(bitcoin, sats),
    send(bitcoin, 'all'),
    send(tron, `${number + 2}usdt`),
    send(tron, `${number + 2}usdt`, '--from', 'btc'),
    { verb: 'swap', to: ['BTC'], amount: `${swapped(number)}usdt`, more: [] },
    { verb: 'payout', to: [account(number)], amount: `${50 + number}000vnd`, more: [] },
    { verb: 'proposals', to: user, amount: sats, more: ['--max-total', '5000sat'] },
  ]);
}

/** Draws up to three instructions; two of them may have one reference. */
export function drawAsked(chance: Chance): Some<Asked> {
  const draw = (number: number): Asked => {
    const kind = drawKind(number, chance);
    const lacksRef = kind.verb === 'proposals' || (isRow(kind) && chance.hits(0.3));
    const ref = lacksRef ? undefined : `ref-${chance.hits(0.2) ? 0 : number}`;
    return { name: `asked-${number}`, ...kind, ref };
  };
  const asked: Some<Asked> = [draw(0)];
  while (asked.length < 3 && chance.hits(0.6)) asked.push(draw(asked.length));
  return asked;
}

/** Whether typing the instruction again pays nothing twice. */
export const isRepeatable = ({ ref, amount, verb }: Asked): boolean =>
  ref !== undefined || amount === undefined || verb === 'proposals';

function isOf({ verb, to: [to], amount }: Asked, { asked }: ModelTransaction): boolean {
  const { sourceReq, destReq } = asked;
  if (verb === 'swap')
    return destReq.method === 'servicepay' && amount === `${sourceReq.amtRequested}usdt`;
  return Object.values(destReq.reqDetails ?? {}).includes(to);
}

/** The instruction that the transaction belongs to. */
export const askedBy = (asked: readonly Asked[], txn: ModelTransaction): Asked | undefined =>
  asked.find((each) => isOf(each, txn));

/** The words that propose an instruction, which the owner pays by the id of the proposal. */
export const proposing = ({ to: [to], amount = '', more }: Asked): string[] => [
  'propose',
  'send',
  to,
  amount,
  ...more,
];

/**
 * The command line of an instruction.
 * @param proposal the id of its proposal
 */
export function giveWords(one: Asked, chance: Chance, proposal: string | undefined): string[] {
  const { verb, to, amount, more, ref } = one;
  const isByName = chance.hits(0.2);
  const options = [...(ref === undefined ? [] : ['--ref', ref]), '--yes'];
  if (verb === 'proposals')
    return ['proposals', 'pay', proposal ?? 'none', '--digest', proposal ?? 'none', '--yes'];
  if (verb === 'swap') return ['swap', amount ?? '', to[0], ...options];
  if (verb === 'payout')
    return [
      ...payoutWords({ ...payee(to[0]), '--amount': amount ?? '' }),
      '--from',
      'btc',
      ...options,
    ];
  const words = amount === undefined ? [] : [amount];
  return ['send', isByName ? (to[1] ?? to[0]) : to[0], ...words, ...more, ...options];
}

const payee = (number: string) => ({ '--acct-num': number });

/** The columns of a payout in a batch file. */
const payoutColumns = {
  method: 'vnd-instant',
  institution: '970436',
  acct_name: 'LE VAN A',
  recipient_type: 'individual',
  recipient_name: 'Le Van A',
  recipient_country: 'VN',
  purpose: '1',
  source: '2',
  relationship: '3',
  sender_type: 'business',
  sender_name: 'Acme Ltd',
  sender_country: 'DE',
  sender_phone: '+49 151 1234 5678',
  sender_address: '1 High St',
};

/** Whether a batch file can hold the instruction: no whole balance, and no dollars. */
const isRow = ({ verb, amount }: Kind): boolean =>
  (verb === 'send' || verb === 'payout') && amount !== 'all' && !amount?.endsWith('usd');

/** The instructions of the batch file, one for each reference. */
export const rowsOf = (asked: readonly Asked[]): readonly Asked[] =>
  asked.filter(
    (one, index) =>
      isRow(one) &&
      (one.ref === undefined || asked.findIndex(({ ref }) => ref === one.ref) === index),
  );

export function batchText(asked: readonly Asked[]): string {
  const rows = rowsOf(asked).map(({ verb, ref = '', to: [to], amount = '', more }) =>
    verb === 'payout'
      ? [ref, '', amount, 'btc', to, ...Object.values(payoutColumns)]
      : [ref, to, amount, more[1] ?? '', '', ...Object.keys(payoutColumns).map(() => '')],
  );
  const head = ['ref', 'to', 'amount', 'from', 'acct_num', ...Object.keys(payoutColumns)];
  return [head, ...rows, []].map((cells) => cells.join(',')).join('\n');
}
