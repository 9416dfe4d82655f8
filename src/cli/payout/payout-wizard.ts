// Asks for the unknown answers of a payout in order, and lets the person go back to each question.
import { formatAmount, money, parseAmount } from '../../formats/amount.js';
import type { KycCodes, Recipient } from '../../store/profile/profiles.js';
import type { Back, Choice } from '../../terminal/ask/ask.js';
import { back, taking, walk } from '../../terminal/ask/wizard.js';
import { worthText } from '../../terminal/cards/card.js';
import type { Form } from '../../terminal/cards/form.js';
import { highestCode } from '../../wallet/payout/order.js';
import { payoutForm, recipientForm, type FormOf } from './payout-form.js';
import { answersOf, partyOf, type Draft } from './payout-draft.js';
import { destinationOptions, givenFlags } from './payout-options.js';
import {
  destinationSteps,
  isNew,
  partySteps,
  step,
  type PayoutPrompts,
  type DraftStep,
  type PartSteps,
} from './payout-recipient.js';
import { askingUnder } from '../payment/guided.js';
import type { WorthOf } from '../watch/worth.js';
import { whole } from '../values.js';

export interface WizardDeps extends PayoutPrompts {
  /** The recipients from the address book and from earlier payouts. */
  readonly known: readonly Choice<PayoutPayee>[];
  /** The labels of the service's numeric codes, and the codes of the last payout. */
  readonly codes: KycCodes;
  readonly takesAnyCode: boolean;
  /** Returns the wallets that hold money, or no wallets until svcpay has read the balances. */
  readonly wallets: () => readonly Choice<string>[];
  readonly worth: WorthOf;
  /** Saves typed answers, or undefined if the wizard does not offer to save them. */
  readonly keep: Keep | undefined;
  /** Called with the answers before each question. */
  readonly onAnswers: (soFar: Draft) => void;
}

interface Keep {
  sender(draft: Draft): Promise<void>;
  /** Saves the recipient as a contact. */
  recipient(name: string, draft: Draft): Promise<void>;
  /** Checks the name of a new contact. Throws Failure `usage` for a name that is in use. */
  parseName(text: string): string;
}

/**
 * Asks the questions of a payout. Resolves with `back` if the person goes back from the first
 * question.
 */
export function askPayout(start: Draft, deps: WizardDeps, before?: Draft): Promise<Draft | Back> {
  const { asking, standing } = underForm(payoutForm(start, deps.worth), deps, deps.onAnswers);
  const { keep } = deps;
  const steps: PartSteps[] = [
    ['Where to', [bookStep(asking)]],
    ...destinationSteps(start, asking, [['Amount', [amountStep(asking)]]]),
    ['Recipient', keep === undefined ? [] : [keepRecipientStep(start, asking, keep)]],
    ['Sender', partySteps('sender', start, asking)],
    ['Sender', keep === undefined ? [] : [keepSenderStep(start, asking, keep)]],
    ['Codes', fundsSteps(asking)],
    [undefined, [walletStep(asking)]],
  ];
  return walk(start, steps.flatMap(standing), before);
}

export function askRecipient(start: Draft, deps: PayoutPrompts): Promise<Draft | Back> {
  const { asking, standing } = underForm(recipientForm, deps);
  return walk(start, destinationSteps(start, asking).flatMap(standing));
}

/**
 * Shows the questions of the wizard below the form. The returned function `standing` wraps the
 * steps of a part, so that each step updates the form before it asks its question.
 */
function underForm<D extends PayoutPrompts>(
  formOf: FormOf,
  deps: D,
  onAnswers?: (soFar: Draft) => void,
) {
  let form: Form | undefined;
  return {
    asking: { ...deps, ask: askingUnder(() => form, deps.ask) },
    standing: ([part, steps]: PartSteps): DraftStep[] =>
      steps.map((step) => (soFar, before) => {
        onAnswers?.(soFar);
        form = formOf(soFar, part);
        return step(soFar, before);
      }),
  };
}

/** A recipient that svcpay can pay, or no recipient for a new one. */
export interface PayoutPayee {
  readonly chosen: string;
  readonly kept?: Recipient;
}

const newPayee: PayoutPayee = { chosen: '' };

function bookStep({ ask, known }: WizardDeps): DraftStep {
  return (soFar, before) => {
    if (
      known.length === 0 ||
      soFar.chosen !== undefined ||
      givenFlags(soFar, destinationOptions).length > 0
    )
      return undefined;
    const question = {
      message: 'Pay out to',
      flag: 'NAME',
      choices: known,
      always: [{ value: newPayee, name: 'New recipient' }],
      default: known.find(({ value }) => value.chosen === before?.chosen)?.value,
    };
    return taking(ask.search(question), ({ chosen, kept }) => ({
      ...soFar,
      ...(kept !== undefined && answersOf(kept)),
      usedCodes: kept?.codes,
      chosen,
    }));
  };
}

const readCode = whole(0, highestCode).read;

const another = -1;

/**
 * Asks for the service's numeric codes: purpose, source and relationship. Shows the labels from the
 * profile, and suggests the codes of the last payout.
 */
function fundsSteps({ ask, codes, takesAnyCode }: WizardDeps): DraftStep[] {
  const code = (name: keyof KycCodes, message: string): DraftStep =>
    step(name, async ({ usedCodes, acctName, chosen }, before) => {
      const usedFor = usedCodes?.[name];
      const suggested =
        before?.[name] ?? usedFor ?? codes[name]?.last ?? (takesAnyCode ? 1 : undefined);
      const flag = `--${name} N`;
      const labels = Object.entries(codes[name]?.labels ?? {});
      const choices = labels.map(([number, label]) => ({
        value: Number(number),
        name: `${number}  ${label}`,
      }));
      const picked =
        choices.length === 0
          ? another
          : await ask.search({
              message,
              flag,
              choices: [...choices, { value: another, name: 'Another number' }],
              default: suggested,
            });
      if (picked !== another) return picked;
      const example = takesAnyCode
        ? 'the sandbox accepts any number'
        : usedFor === undefined
          ? "a number from your service's list"
          : `${usedFor} was used last time for ${chosen || acctName}`;
      return ask.parsed({
        message,
        example,
        flag,
        default: suggested === undefined ? undefined : String(suggested),
        parse: readCode,
      });
    });
  return [
    code('purpose', 'Purpose of the payment'),
    code('source', 'Source of the funds'),
    code('relationship', 'Relationship to the recipient'),
  ];
}

/** Asks for the paying wallet, unless only one wallet holds money. */
const walletStep =
  ({ ask, wallets }: WizardDeps): DraftStep =>
  (soFar, before) => {
    const choices = wallets();
    if (soFar.from !== undefined || choices.length < 2) return undefined;
    const question = {
      message: 'Pay from',
      flag: '--from CCY',
      choices,
      default: before?.from ?? 'BTC',
    };
    return taking(ask.select(question), (from) => ({ ...soFar, from }));
  };

const amountStep = ({ ask, worth }: WizardDeps): DraftStep =>
  step('amount', ({ method, from = 'BTC' }, before) => {
    const ccy = method?.country.ccy;
    const message = `Amount the recipient gets${ccy === undefined ? '' : `, in ${ccy}`}`;
    const suggested = before?.amount === undefined ? undefined : formatAmount(before.amount);
    const rate = worthText(worth(money(from, 1), ccy));
    return ask.parsed({
      message,
      ...(rate !== '' && { example: `1 ${from} ${rate}` }),
      flag: '--amount AMOUNT',
      default: suggested,
      parse: (text) => parseAmount(text, ccy),
    });
  });

/** Offers to save the recipient that the person has typed, and saves it at once. */
function keepRecipientStep(start: Draft, { ask }: WizardDeps, keep: Keep): DraftStep {
  const isTyped = partyOf(start, 'recipient') === undefined || start.acctNum === undefined;
  const save = async (soFar: Draft, before: Draft | undefined): Promise<Draft | Back> => {
    const chosen = await ask.parsed({
      message: 'Save recipient as (leave empty to skip)',
      flag: '--yes',
      parse: (text) => (text === '' || text === before?.chosen ? text : keep.parseName(text)),
    });
    if (chosen === back) return back;
    if (chosen !== '') await keep.recipient(chosen, soFar);
    return { ...soFar, chosen };
  };
  return (soFar, before) => (isTyped && isNew(soFar) ? save(soFar, before) : undefined);
}

/** Offers to save the sender that the person has typed, and saves it at once. */
function keepSenderStep(start: Draft, { ask }: WizardDeps, keep: Keep): DraftStep {
  const isTyped = partyOf(start, 'sender') === undefined;
  const save = async (soFar: Draft): Promise<Draft | Back> => {
    const isKept = await ask.select({
      message: 'Save your own details for the next payout?',
      flag: '--yes',
      choices: [
        {
          value: true,
          name: 'Save the details in the profile',
          description: 'on this machine, readable only by you',
        },
        { value: false, name: 'Do not save the details' },
      ],
    });
    if (isKept === true) await keep.sender(soFar);
    return isKept === back ? back : soFar;
  };
  return (soFar) => (isTyped ? save(soFar) : undefined);
}
