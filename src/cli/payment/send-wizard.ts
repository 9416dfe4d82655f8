// Asks for the missing answers of a send at a terminal: destination, method and amount.
import type { Transaction } from '../../api/types.js';
import { formatAmount, type Money } from '../../formats/amount.js';
import { Failure, ifAvailable, orFailure } from '../../formats/failure.js';
import { type Rail, railProperties } from '../../formats/rails.js';
import {
  type Pose,
  back,
  type Back,
  type Questions,
  type Step,
  taking,
} from '../../terminal/ask/questions.js';
import { formAbove } from '../../terminal/cards/card.js';
import { shortened } from '../../formats/text.js';
import type { Missing, ReadSend, SendWords } from '../../wallet/instruction/send.js';
import { exact, checkHeld } from '../../wallet/instruction/instruction.js';
import { type KnownPayee, payeeChoices, readPayees } from '../contacts/payees.js';
import type { Context } from '../context.js';
import { guide, walletChoices } from './guided.js';

type Plan = (words: SendWords) => ReadSend;

interface GuidedSend {
  readonly plan: Plan;
  readonly run: (words: SendWords) => Promise<Transaction>;
  readonly ref: string | undefined;
}

/**
 * Asks for the missing answers of a send, and pays. Each question refuses an invalid answer at
 * once, and the person can change answers until the payment is submitted.
 */
export const guideSend = (
  words: SendWords,
  missing: Missing,
  { plan, run, ref }: GuidedSend,
  context: Context,
): Promise<Transaction> =>
  guide(
    words,
    {
      questions: () => sendQuestions(plan, context),
      run,
      changes: {
        ...(missing !== 'way' && { 'Change the amount': ['amount', 'spend'] }),
        ...(missing === 'destination' && {
          'Change the recipient': ['amount', 'spend', 'to', 'via'],
        }),
      },
    },
    ref,
    context,
  );

function sendQuestions(plan: Plan, context: Context): Questions<SendWords> {
  type Asking = (
    soFar: SendWords,
    before: SendWords | undefined,
    pose: Pose,
    ccy: string | undefined,
  ) => Promise<SendWords | Back>;
  const asking =
    (missing: Missing, question: Asking): Step<SendWords> =>
    (soFar, before, pose) => {
      const planned = plan(soFar);
      return planned.missing === missing ? question(soFar, before, pose, planned.ccy) : undefined;
    };
  return {
    onStep: ({ to, via }) => formAbove('Send', [to && `to ${shortened(to)}`, via && wayNames[via]]),
    steps: [
      asking('destination', (soFar, before, pose) =>
        askDestination(soFar, before, plan, pose, context),
      ),
      asking('way', (soFar, before, pose) =>
        taking(pose({ ...wayQuestion, default: before?.via }), (via) => ({ ...soFar, via })),
      ),
      asking('amount', async (soFar, before, pose, ccy) => {
        const balances = await shownBalances(context);
        const parse = (amount: string): SendWords => {
          const next = { ...soFar, amount };
          const planned = plan(next);
          if (planned.missing === undefined) {
            const asked = exact(planned.request.instruction);
            if (asked?.ccy === planned.request.instruction.from) checkHeld(asked, balances);
          }
          return next;
        };
        const question = amountQuestion(ccy, soFar.from, balances);
        return pose({ ...question, flag: 'AMOUNT', default: before?.amount, parse });
      }),
    ],
  };
}

/**
 * Asks for the destination. The person searches the known destinations or, if no destination is
 * known, types the destination.
 */
async function askDestination(
  soFar: SendWords,
  before: SendWords | undefined,
  plan: Plan,
  pose: Pose,
  context: Context,
): Promise<SendWords | Back> {
  const parse = (to: string): SendWords => {
    const next = { ...soFar, to };
    plan(next);
    return next;
  };
  const question = { message: 'Pay to', flag: 'DESTINATION' };
  const toOf = ({ chosen, contact }: KnownPayee): string => chosen || String(contact);
  const payees = (await readPayees(context)).filter(
    (each) =>
      typeof each.contact === 'string' && !(orFailure(() => parse(toOf(each))) instanceof Failure),
  );
  if (payees.length === 0) {
    const example = exampleOf(soFar.rail);
    return pose({ ...question, example, default: before?.to, parse });
  }
  const to = await pose({
    ...question,
    isSearch: true,
    choices: (await payeeChoices(payees, context)).map((choice) => ({
      ...choice,
      value: toOf(choice.value),
    })),
    default: before?.to,
    typed: (text) => {
      parse(text);
      return { value: text, name: text, description: 'not yet paid from this home' };
    },
  });
  return to === back ? back : parse(to);
}

const exampleOf = (rail: Rail | undefined): string =>
  rail === undefined
    ? 'an invoice, an address, a Lightning Address'
    : railProperties(rail).destination;

/**
 * Returns the question for the amount, which shows the balance of the paying wallet. If any wallet
 * may pay, the question shows up to two balances.
 */
function amountQuestion(ccy: string | undefined, from: string | undefined, balances: Money[]) {
  const payer = from ?? ccy;
  const shown = balances.filter((held) => payer === undefined || held.ccy === payer);
  const available = shown.filter(({ value }) => value.gt(0)).slice(0, 2);
  const beside =
    available.length === 0 ? '' : ` · ${available.map(formatAmount).join(', ')} available`;
  if (ccy === undefined)
    return { message: `Amount${beside}`, example: 'e.g. 50000sat or 5usdt, or all' };
  return ccy === 'BTC'
    ? { message: `Amount${beside}`, example: 'e.g. 50000sat, or all' }
    : { message: `Amount in ${ccy}${beside}`, example: 'or all' };
}

const wayNames = { lightning: 'over Lightning', onchain: 'on-chain' } as const;

const wayQuestion = {
  message: 'Pay this URI over Lightning or on-chain?',
  flag: '--via lightning|onchain',
  choices: [
    { value: 'lightning', name: 'Lightning', description: 'settles in seconds' },
    {
      value: 'onchain',
      name: 'On-chain',
      description: 'settles after confirmations, 10 to 60 minutes',
    },
  ],
} as const;

/**
 * Returns the balances to show with the amount question, or no balances if svcpay cannot read the
 * wallets. A failed read is harmless, because svcpay reads the wallets again for the payment.
 */
const shownBalances = async (context: Context): Promise<Money[]> =>
  ((await ifAvailable(walletChoices(context))) ?? []).flatMap(({ held }) => held ?? []);
