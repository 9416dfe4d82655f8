// What to do next, as a menu over the same commands: each entry asks for what its command line needs.
import type { Wallet } from '../../api/types.js';
import { fixed, formatAmount, money, moneyFromWire, parseAmount, type Money } from '../../formats/amount.js';
import { detectDestination, type Destination } from '../../formats/destination.js';
import { back, type Ask, type Back } from '../../terminal/ask/ask.js';
import { taking, walk, type Step } from '../../terminal/ask/wizard.js';

/** The words of a command line, without `svcpay`. */
export type Words = readonly string[];

export interface MenuDeps {
  readonly ask: Ask['steps'];
  readonly wallets: readonly Wallet[];
  /** Something can be resumed. */
  readonly isPending: boolean;
}

type Entry = (deps: MenuDeps) => Promise<Words | Back>;

const plain = (...words: string[]): Entry => () => Promise.resolve(words);

const entries: readonly { readonly name: string; readonly entry: Entry; readonly onlyPending?: boolean }[] = [
  { name: 'Receive', entry: receive },
  { name: 'Send', entry: send },
  { name: 'Swap', entry: swap },
  { name: 'Pay out to a bank or phone', entry: plain('payout') },
  { name: 'History', entry: plain('tx', 'list') },
  { name: 'Resume what is pending', entry: plain('tx', 'resume'), onlyPending: true },
];

/** Resolves with the chosen command line; `back` when the person leaves. Back from an entry is the menu again. */
export async function askWhatNext(deps: MenuDeps): Promise<Words | Back> {
  const choices = entries
    .filter(({ onlyPending }) => onlyPending !== true || deps.isPending)
    .map(({ name, entry }) => ({ value: entry, name }));
  for (;;) {
    const entry = await deps.ask.select({ message: 'What next?', flag: 'COMMAND', choices, backName: 'Leave' });
    if (entry === back) return back;
    const words = await entry(deps);
    if (words !== back) return words;
  }
}

/** What was answered so far within one entry. */
interface Answers {
  readonly way?: Words;
  readonly destination?: Destination;
  readonly text?: string;
  readonly from?: string;
  readonly to?: string;
  readonly amount?: Money;
}

async function collect(steps: readonly Step<Answers>[], words: (answers: Answers) => Words): Promise<Words | Back> {
  return taking(walk<Answers>({}, steps), words);
}

const amountStep = ({ ask }: MenuDeps, message: string, ccyOf: (soFar: Answers) => string | undefined): Step<Answers> =>
  (soFar) => {
    const ccy = ccyOf(soFar);
    if (ccy === undefined) return undefined;
    const example = ccy === 'BTC' ? ', as in 50000sat' : ` in ${ccy}`;
    const parse = (text: string): Money => parseAmount(text, ccy);
    return taking(ask.parsed({ message: `${message}${example}`, flag: 'AMOUNT', parse }), (amount) => ({ ...soFar, amount }));
  };

/** As a command line takes it. */
const written = ({ ccy, value }: Money): string => `${fixed(value)}${ccy.toLowerCase()}`;

const amountWords = ({ amount }: Answers): string[] => (amount === undefined ? [] : [written(amount)]);

const waysToReceive: readonly { readonly name: string; readonly value: Words; readonly description: string }[] = [
  { name: 'Over Lightning', value: ['receive', 'lightning'], description: 'an invoice, paid in seconds' },
  { name: 'On-chain', value: ['receive', 'onchain'], description: 'an address for one payment' },
  { name: 'To my Bitcoin address', value: ['receive', 'address', 'btc'], description: 'permanent' },
  { name: 'USDT on TRON', value: ['receive', 'address', 'usdt', '--chain', 'tron'], description: 'permanent' },
  { name: 'USDT on Ethereum', value: ['receive', 'address', 'usdt', '--chain', 'eth'], description: 'permanent' },
];

function receive(deps: MenuDeps): Promise<Words | Back> {
  const wantsAmount = ({ way }: Answers): string | undefined => (way?.includes('address') === true ? undefined : 'BTC');
  return collect(
    [
      (soFar) =>
        taking(deps.ask.select({ message: 'How', flag: 'METHOD', choices: waysToReceive }), (way) => ({ ...soFar, way })),
      amountStep(deps, 'Amount to ask for', wantsAmount),
    ],
    (answers) => [...(answers.way ?? []), ...amountWords(answers)],
  );
}

function send(deps: MenuDeps): Promise<Words | Back> {
  const parse = (text: string) => ({ text, destination: detectDestination(text) });
  const message = 'Pay to (an invoice, an address, a Lightning Address)';
  return collect(
    [
      (soFar) => taking(deps.ask.parsed({ message, flag: 'DESTINATION', parse }), (given) => ({ ...soFar, ...given })),
      amountStep(deps, 'Amount', ({ destination }) => missingAmount(destination)),
    ],
    (answers) => ['send', answers.text ?? '', ...amountWords(answers)],
  );
}

/** The currency of the amount that a destination does not name itself. */
function missingAmount(destination: Destination | undefined): string | undefined {
  switch (destination?.kind) {
    case 'bitcoin-address':
    case 'lightning-address':
    case 'lnurl':
      return 'BTC';
    case 'tron-address':
      return 'USDT';
    case 'bip21':
      return destination.value.amount === undefined && destination.value.invoice === null ? 'BTC' : undefined;
    default:
      return undefined;
  }
}

function swap(deps: MenuDeps): Promise<Words | Back> {
  const { ask, wallets } = deps;
  const held = ({ ccy, availableBalance }: Wallet): Money => moneyFromWire(ccy, availableBalance) ?? money(ccy, 0);
  const full = wallets.filter((wallet) => held(wallet).value.gt(0));
  const choicesOf = (some: readonly Wallet[]) =>
    some.map((wallet) => ({ value: wallet.ccy, name: formatAmount(held(wallet)) }));
  const pick = (message: string, flag: string, some: readonly Wallet[]) => ask.select({ message, flag, choices: choicesOf(some) });
  return collect(
    [
      (soFar) => taking(pick('From', 'FROM', full), (from) => ({ ...soFar, from })),
      (soFar) => taking(pick('To', 'TO', wallets.filter(({ ccy }) => ccy !== soFar.from)), (to) => ({ ...soFar, to })),
      amountStep(deps, 'Amount to give', ({ from }) => from),
    ],
    (answers) => ['swap', ...amountWords(answers), answers.from ?? '', answers.to ?? ''],
  );
}
