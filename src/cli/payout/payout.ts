// Pays out fiat to a bank account or mobile wallet, from flags, from a file, or with questions.
import type { Transaction } from '../../api/types.js';
import { demandAnswers, paidView } from '../payment/payment-flow.js';
import { Failure } from '../../formats/failure.js';
import type { Payment } from '../../store/journal/payment.js';
import { instructionOf } from '../../wallet/instruction/instruction.js';
import { journalFirst, named } from '../../wallet/payment/journal-first.js';
import { findInstitution } from '../../wallet/payout/institutions.js';
import { payeeOf } from '../../wallet/payout/payee.js';
import { readPayoutFile } from '../../wallet/payout/from-file.js';
import type { Context } from '../context.js';
import { defineCommand } from '../define.js';
import { record } from '../show.js';
import { knownChoices, latestPayments } from '../payment/known-destinations.js';
import { reference } from '../payment/payment-options.js';
import { runGuided, walletChoices, type WalletChoice } from '../payment/guided.js';
import { payoutChanges, readDraft, knownPayees, type Draft } from './payout-draft.js';
import {
  completePayout,
  openLookUp,
  runPayout,
  runPayoutInstruction,
  type LookUp,
} from './payout-flow.js';
import {
  answerOptions,
  givenFlags,
  missingFlags,
  payoutOptions,
  type PayoutFlags,
} from './payout-options.js';
import { askPayout } from './payout-wizard.js';
import { readGivenText } from '../stdin.js';

export const payout = defineCommand({
  options: payoutOptions,
  changes: true,
  examples: [
    ['svcpay payout', 'asks for everything, one question at a time; Esc goes back'],
    ['svcpay payout --recipient "Le Van A" --amount 500000vnd', 'pays out to a saved recipient'],
    [
      'svcpay payout --from-file payout.json --yes --json',
      "pays out from a file with the JSON body of the service's create request",
    ],
    ['svcpay payout methods VN', 'lists the payout methods of one country'],
  ],
  run: (flags, context) =>
    journalFirst(named(flags.ref), context.journal, () => runPayouts(flags, context)),
  view: record(paidView),
});

async function runPayouts(flags: PayoutFlags, context: Context): Promise<Transaction> {
  if (flags.fromFile !== undefined) return payFromFile(flags.fromFile, flags, context);
  const { ask, config, globals, settings } = context;
  const { recipients } = config.read();
  const start = readDraft(flags, recipients, settings.profile.sender);
  const missing = missingFlags(start);
  demandAnswers(missing, flags, context);
  const lookUp = await openLookUp(context);
  if (missing.length === 0) return payNow(start, flags, lookUp, context);
  let wallets: readonly WalletChoice[] = [];
  void walletChoices(context).then(
    (all) => (wallets = all.filter(({ isEmpty }) => !isEmpty)),
    () => undefined,
  );
  const payments = await latestPayments(context);
  const wizard = {
    ownCountry: ownCountry(payments, context),
    ask: ask.steps,
    institutions: lookUp,
    recipients,
    known: await knownChoices(knownPayees(recipients, payments), context),
    codes: settings.profile.codes ?? {},
    takesAnyCode: settings.embedded,
    wallets: () => wallets,
    mayKeep: !globals.yes,
  };
  const flow = {
    ask: (draft: Draft, before?: Draft) => askPayout(draft, wizard, before),
    run: (draft: Draft) => payNow(draft, flags, lookUp, context),
    changes: payoutChanges,
  };
  return runGuided(start, flow, flags.ref, context);
}

/** Returns the country of the sender of the last payout or, without a payout, of the locale. */
function ownCountry(payments: readonly Payment[], { env }: Context): string | undefined {
  const senders = payments.flatMap((each) => instructionOf(each).payout?.sourceReq.kyc ?? []);
  const locale = env['LC_ALL'] ?? env['LANG'] ?? '';
  return senders[0]?.details.countryCode ?? /^[a-z]{2,3}_([A-Z]{2})\b/.exec(locale)?.[1];
}

async function payNow(
  draft: Draft,
  flags: PayoutFlags,
  lookUp: LookUp,
  context: Context,
): Promise<Transaction> {
  return runPayout(await completePayout(draft, lookUp), draft, flags, context);
}

async function payFromFile(
  file: string,
  flags: PayoutFlags,
  context: Context,
): Promise<Transaction> {
  const others = [
    ...(flags.recipient === undefined ? [] : ['--recipient']),
    ...givenFlags(flags, answerOptions),
  ];
  if (flags.from !== undefined) others.push('--from');
  if (others.length > 0)
    throw new Failure(
      'usage',
      `--from-file already contains every answer. Remove ${others.join(', ')}.`,
    );
  const { instruction, method, ref } = readPayoutFile(
    await readGivenText(file, context),
    context.settings.maker,
  );
  const merged = { ...flags, ref: chooseRef(flags.ref, ref) };
  demandAnswers([], flags, context);
  const lookUp = await openLookUp(context);
  const { payout } = instruction;
  if (payout !== undefined) {
    const { institutionCode } = payeeOf(payout);
    findInstitution(institutionCode, method, await lookUp(method.country.code));
  }
  return runPayoutInstruction(instruction, method, merged, context);
}

function chooseRef(flag: string | undefined, inFile: string | undefined): string | undefined {
  if (inFile === undefined) return flag;
  const ref = reference().read(inFile);
  if (flag === undefined || flag === ref) return ref;
  throw new Failure(
    'usage',
    `The file has the reference ${ref}, but --ref is ${flag}. Use only one reference.`,
  );
}
