// Sends a fiat payout to a bank account or mobile-money wallet, with KYC data of both parties.
import * as v from 'valibot';
import { countryCodes } from '../../formats/country.js';
import { complaint, badRequest } from '../wire/refusal.js';
import {
  findPayoutMethods,
  hasInstitution,
  isPayoutMethod,
  type PayoutMethod,
} from './institutions.js';
import { price } from '../service/pricing.js';
import { durations, endingOfAccount } from '../unspecified.js';
import { amountOn, type CreateRequest, type Kind } from './kind.js';
import { number } from '../wire/values.js';
import { sending } from './sending.js';

const text = v.pipe(v.string(), v.trim(), v.nonEmpty('must not be empty'), v.maxLength(255));

/**
 * A "phone number with country code" from the specification. The sandbox accepts any separators in
 * a phone number.
 */
const phone = v.pipe(
  text,
  v.check(
    (number) => /^\+?[1-9]\d{6,14}$/.test(number.replace(/[\s().-]/g, '')),
    'must be a phone number with a country code',
  ),
);

/**
 * The KYC data of a party. `contactNumber` and `address1` are optional, because the specification
 * marks them as "varies".
 */
const kyc = v.object({
  type: v.picklist(['individual', 'business']),
  details: v.object({
    legalFullName: text,
    countryCode: v.picklist(countryCodes, 'must be an ISO 3166-1 alpha-2 code'),
    contactNumber: v.optional(phone),
    address1: v.optional(text),
  }),
});

/**
 * A numeric code that describes the source of funds. The specification does not define the codes
 * for the source of funds, so the sandbox accepts any integer.
 */
const code = v.pipe(
  number,
  v.check((n) => n.eq(n.round(0)), 'must be an integer'),
);
const sourceOfFunds = v.object({ purpose: code, source: code, relationship: code });

/**
 * The fields of a recipient's bank account. The recipient of a payout is either a bank account or a
 * mobile-money wallet.
 */
const bankAccount = v.pipe(
  v.object({ bankAcctNum: text, institutionCode: text }),
  v.transform(({ bankAcctNum, institutionCode }) => ({ account: bankAcctNum, institutionCode })),
);
const namedAccount = v.pipe(
  v.object({ acctName: text, acctNum: text, institutionCode: text, institutionName: text }),
  v.transform(({ acctNum, institutionCode }) => ({ account: acctNum, institutionCode })),
);

const terms = v.object({ instant: v.boolean() });

export const payout: Kind = {
  serves: (source, dest, wallet) => source === wallet && isPayoutMethod(dest),
  quote(_ctx, request) {
    const { source, dest } = request;
    const candidates = findPayoutMethods(dest.method, dest.ccy);
    if (candidates.length === 0)
      throw badRequest(`unsupported country or method: ${dest.method} in ${dest.ccy}`);
    const { payoutMethod, account } = readRecipient(request, candidates);
    const sender = readKyc('sourceReq', source.kyc);
    readKyc('destReq', dest.kyc);
    assertSourceOfFunds(request, sender.details.countryCode !== payoutMethod.country);
    return {
      ...price(request, { ...amountOn('dest', request), fee: 'payout' }),
      sourceDetails: { reqDetails: {}, kyc: source.kyc },
      destDetails: { reqDetails: dest.reqDetails, kyc: dest.kyc },
      extra: {
        instant: payoutMethod.instant,
        sourceOfFunds: request.sourceOfFunds,
        planned: endingOfAccount(account),
      },
    };
  },
  ...sending({
    name: 'payout',
    startAfter: durations.payoutStart,
    settleAfter: (txn) =>
      v.parse(terms, txn.extra).instant ? durations.payoutInstant : durations.payoutStandard,
  }),
};

/** Reads the recipient's account. The institution of the account determines the payout method. */
function readRecipient(
  { dest: { reqDetails } }: CreateRequest,
  candidates: readonly PayoutMethod[],
) {
  const shape = 'bankAcctNum' in reqDetails ? bankAccount : namedAccount;
  const { account, institutionCode } = read(shape, 'destReq.reqDetails', reqDetails);
  const payoutMethod = candidates.find(({ country, institutionType }) =>
    hasInstitution(country, institutionType, institutionCode),
  );
  if (payoutMethod === undefined) throw badRequest('invalid institution code');
  return {
    payoutMethod,
    account:
      payoutMethod.institutionType === 'mobile' ? subscriberNumber(account, payoutMethod) : account,
  };
}

/**
 * Removes the country code from a mobile number. Throws a `Refusal` for a mobile number without the
 * country code of the payout method.
 */
function subscriberNumber(account: string, { callingCode }: PayoutMethod): string {
  const [, subscriber] = new RegExp(`^\\+?${callingCode}(\\d{6,12})$`).exec(account) ?? [];
  if (subscriber !== undefined) return subscriber;
  throw badRequest(
    `destReq.reqDetails.acctNum must be a mobile number with the country code ${callingCode}`,
  );
}

function readKyc(side: string, given: unknown): v.InferOutput<typeof kyc> {
  if (given === undefined) throw badRequest(`missing KYC: ${side}.kyc is required`);
  return read(kyc, `${side}.kyc`, given);
}

function assertSourceOfFunds(request: CreateRequest, international: boolean): void {
  const given = request.sourceOfFunds;
  if (given !== undefined) read(sourceOfFunds, 'sourceOfFunds', given);
  else if (international) throw badRequest('sourceOfFunds is required for an international payout');
}

function read<T>(shape: v.GenericSchema<unknown, T>, path: string, value: unknown): T {
  const parsed = v.safeParse(shape, value, { abortEarly: true });
  if (parsed.success) return parsed.output;
  throw badRequest(complaint(parsed.issues[0], path));
}
