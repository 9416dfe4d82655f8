// The questions of a payout, in order, each of which may be taken back. What is known already is not asked.
import { formatAmount, parseAmount } from '../../formats/amount.js';
import type { Recipient } from '../../store/profile/profiles.js';
import type { Ask, Back, Choice, Over } from '../../terminal/ask/ask.js';
import { taking, walk } from '../../terminal/ask/wizard.js';
import { formLines } from '../../terminal/cards/form.js';
import { highestCode } from '../../wallet/payout/order.js';
import { payoutForm, recipientForm, type FormOf } from './payout-form.js';
import { answersOf, recipientOf, senderOf, type Draft } from './payout-draft.js';
import { destinationOptions, givenFlags } from './payout-options.js';
import { destinationSteps, isNew, partySteps, step, type Asking, type AskingOf, type DraftStep } from './payout-recipient.js';
import { whole } from '../values.js';

export interface WizardDeps extends Asking {
  readonly recipients: Readonly<Record<string, Recipient>>;
  /** Reads a name for the address book. Throws Failure `usage` for one that cannot be. */
  readonly parseName: (text: string) => string;
  /** Whether to offer to keep what was typed. */
  readonly mayKeep: boolean;
}

/** Asks for everything a payout still needs; `back` when the person went back from the first question. */
export function askPayout(start: Draft, deps: WizardDeps, before?: Draft): Promise<Draft | Back> {
  const { asking, standing } = underForm(payoutForm(start), deps);
  const steps = [
    bookStep(asking('Where to')),
    ...destinationSteps(start, asking),
    ...partySteps('sender', senderOf(start) === undefined, asking('Sender').ask),
    ...fundsSteps(asking('Codes')),
    amountStep(asking('Amount')),
    ...keepSteps(start, asking()),
  ];
  return walk(start, steps.map(standing), before);
}

/** Asks for a recipient alone, for the address book. */
export function askRecipient(start: Draft, deps: Asking): Promise<Draft | Back> {
  const { asking, standing } = underForm(recipientForm, deps);
  return walk(start, destinationSteps(start, asking).map(standing));
}

interface UnderForm<D> {
  readonly asking: AskingOf<D>;
  /** The same step; while it asks, the form shows what is known before it. */
  readonly standing: (step: DraftStep) => DraftStep;
}

/** Questions under a form that folds what is answered. */
function underForm<D extends Asking>(form: FormOf, deps: D): UnderForm<D> {
  let draft: Draft | undefined;
  return {
    asking: (part) => {
      const over: Over = (canvas) => (draft === undefined ? [] : formLines(form(draft, part), canvas));
      return { ...deps, ask: askingUnder(over, deps.ask) };
    },
    standing: (step) => (soFar, before) => {
      draft = soFar;
      return step(soFar, before);
    },
  };
}

const askingUnder = (over: Over, ask: Ask['steps']): Ask['steps'] => ({
  text: (question) => ask.text({ ...question, over }),
  parsed: (question) => ask.parsed({ ...question, over }),
  select: (question) => ask.select({ ...question, over }),
  search: (question) => ask.search({ ...question, over }),
  secret: (question) => ask.secret({ ...question, over }),
});

function bookStep({ ask, recipients }: WizardDeps): DraftStep {
  const choices: Choice<string>[] = Object.entries(recipients).map(([name, kept]) => ({
    value: name,
    name: `${name}   ${kept.institutionName ?? kept.institutionCode}   ${kept.acctNum}`,
    description: kept.acctName,
  }));
  return (soFar, before) => {
    if (choices.length === 0 || soFar.chosen !== undefined || givenFlags(soFar, destinationOptions).length > 0) return undefined;
    const question = {
      message: 'Pay out to',
      flag: '--recipient NAME',
      choices: [...choices, { value: '', name: 'Somebody new' }],
      default: before?.chosen,
    };
    return taking(ask.search(question), (chosen) => {
      const kept = recipients[chosen];
      return { ...soFar, ...(kept !== undefined && answersOf(kept)), chosen };
    });
  };
}

const readCode = whole(0, highestCode).read;

/** The specification does not say what the numbers mean: what was used for the recipient before is offered again. */
function fundsSteps({ ask, recipients }: WizardDeps): DraftStep[] {
  const code = (name: 'purpose' | 'source' | 'relationship', message: string): DraftStep =>
    step(name, ({ chosen, recipientName }, before) => {
      const known = chosen === undefined || chosen === '' ? undefined : recipients[chosen]?.codes?.[name];
      const used = known === undefined ? '' : `; ${known} was used last time for ${chosen || recipientName}`;
      const suggested = before?.[name] ?? known;
      return ask.parsed({
        message,
        example: `a number: ask the service for its list${used}`,
        flag: `--${name} N`,
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

const amountStep = ({ ask }: WizardDeps): DraftStep =>
  step('amount', ({ method }, before) => {
    const ccy = method?.country.ccy;
    const message = `Amount the recipient gets${ccy === undefined ? '' : `, in ${ccy}`}`;
    const suggested = before?.amount === undefined ? undefined : formatAmount(before.amount);
    return ask.parsed({ message, flag: '--amount AMOUNT', default: suggested, parse: (text) => parseAmount(text, ccy) });
  });

/** Offered for what was typed, not for what was known. */
function keepSteps(start: Draft, { ask, parseName, mayKeep }: WizardDeps): DraftStep[] {
  const typedSender = mayKeep && senderOf(start) === undefined;
  const typedRecipient = mayKeep && (recipientOf(start) === undefined || start.acctNum === undefined);
  return [
    step(
      'keepSender',
      () =>
        ask.select({
          message: 'Keep your own details for the next payout?',
          flag: '--yes',
          choices: [
            { value: true, name: 'Keep them in the profile', description: 'on this machine, readable by you alone' },
            { value: false, name: 'Do not keep them' },
          ],
        }),
      () => typedSender,
    ),
    step(
      'keepAs',
      () =>
        ask.parsed({
          message: 'Keep the recipient in your address book as, if at all',
          flag: '--yes',
          parse: (text) => (text === '' ? '' : parseName(text)),
        }),
      (soFar) => typedRecipient && isNew(soFar),
    ),
  ];
}
