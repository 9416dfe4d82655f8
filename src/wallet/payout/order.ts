// Builds the order of a fiat payout: both parties, the account, and the codes for the purpose, the
// source of the funds and the relationship (specification: endpoint 6, rule 7).
import type {
  CreateTransaction,
  DetailName,
  Kyc,
  RequestSide,
  SourceOfFunds,
} from '../../api/types.js';
import { Failure } from '../../formats/failure.js';
import type { Money } from '../../formats/amount.js';
import { parsePhoneIn } from '../../formats/phone.js';
import type { Party } from '../../store/profile/profiles.js';
import type { PayoutInstitution } from './institutions.js';
import type { Order } from '../order/orders.js';
import type { PayoutMethod } from './methods.js';
import { clip } from '../../formats/text.js';

/** The data from which svcpay builds the order of a payout. */
export interface Payout {
  readonly method: PayoutMethod;
  readonly institution: PayoutInstitution;
  readonly acctNum: string;
  readonly acctName: string;
  readonly recipient: Party;
  readonly sender: Party;
  readonly sourceOfFunds: SourceOfFunds;
  /** The amount that the recipient gets, in the currency of the method. */
  readonly amount: Money;
  /** The currency of the wallet that pays. */
  readonly from: string;
}

export function payoutOrder(payout: Payout): Order {
  const { method, institution, acctNum, acctName, amount, from, sourceOfFunds } = payout;
  return orderOf(
    {
      sourceReq: { ccy: from, method: 'servicepay', reqDetails: {}, kyc: kycOf(payout.sender) },
      destReq: {
        ccy: amount.ccy,
        method: method.code,
        amtRequested: amount.value,
        reqDetails: {
          acctName,
          acctNum,
          institutionCode: institution.code,
          ...(institution.name !== undefined && { institutionName: institution.name }),
        },
        kyc: kycOf(payout.recipient),
      },
      sourceOfFunds,
    },
    amount,
  );
}

/** Derives the order of a payout from the body of its create request. */
export function orderOf(body: CreateTransaction, amount: Money): Order {
  return {
    kind: 'payout',
    body,
    idempotencyKey: null,
    destination: payoutDestination(body.destReq),
    receives: amount,
  };
}

/** Returns the destination of a payout as `method:institution:account`. */
export function payoutDestination({ method, reqDetails }: AccountSide): string {
  const detail = detailsOf(reqDetails);
  const account = detail('acctNum') ?? detail('bankAcctNum') ?? '';
  return `${method}:${detail('institutionCode') ?? ''}:${account}`;
}

type AccountSide = Pick<RequestSide, 'method' | 'reqDetails'>;

const detailsOf =
  (reqDetails: AccountSide['reqDetails']) =>
  (field: DetailName): string | undefined => {
    const value = reqDetails?.[field];
    return typeof value === 'string' ? value : undefined;
  };

export interface Payee {
  readonly name: string;
  readonly account: string;
  readonly institutionCode: string;
  readonly institutionName: string | undefined;
}

/**
 * Returns the recipient of a payout, from either of the two sets of account fields in the
 * specification.
 */
export function payeeOf({ destReq }: CreateTransaction): Payee {
  const detail = detailsOf(destReq.reqDetails);
  return {
    name: detail('acctName') ?? destReq.kyc?.details.legalFullName ?? '',
    account: detail('acctNum') ?? detail('bankAcctNum') ?? '',
    institutionCode: detail('institutionCode') ?? '',
    institutionName: detail('institutionName'),
  };
}

function kycOf({ type, legalFullName, countryCode, contactNumber, address1 }: Party): Kyc {
  return {
    type,
    details: {
      legalFullName,
      countryCode,
      ...(contactNumber !== undefined && { contactNumber }),
      ...(address1 !== undefined && { address1 }),
    },
  };
}

/**
 * Reads an account number in the format of the payout method. Removes spaces, and also dashes if
 * the format has no dashes. The account number of a mobile wallet is the phone number with its
 * country code. Throws Failure `usage` for an invalid account number.
 */
export function parseAccountNumber(
  text: string,
  { code, country, institutionType, format }: PayoutMethod,
): string {
  if (institutionType === 'mobile') return parsePhoneIn(text, country.callingCode);
  const groups = text.trim().split(/\s+/);
  // Refuses an account number next to a word, because the word is probably a name that was copied
  // with the number.
  const isOther = groups.length > 1 && groups.some((group) => /^\p{L}+$/u.test(group));
  const spaceless = isOther ? '' : groups.join('');
  const account = [spaceless, spaceless.replaceAll('-', '')].find((each) =>
    format.pattern.test(each),
  );
  if (account !== undefined) return account;
  throw new Failure(
    'usage',
    `"${clip(text)}" cannot be an account number for ${code}, which requires ${format.words}.` +
      lostZero(spaceless, format.length),
  );
}

/**
 * Returns the hint about a leading zero that a spreadsheet removed, because the spreadsheet read
 * the account number as a number.
 */
function lostZero(digits: string, length = 0): string {
  const whole = digits.padStart(length, '0');
  if (!/^\d+$/.test(digits) || digits.length >= length || digits.length < length - 3) return '';
  return ` If a spreadsheet removed leading zeros, write ${whole}.`;
}

const longestText = 140;

/**
 * Reads a name or an address, which must be one line with letters. Throws Failure `usage` for a
 * text that is too long, has several lines or has no letters.
 */
export function parseLine(text: string): string {
  const line = text.trim().replace(/ {2,}/g, ' ');
  if (
    line !== '' &&
    line.length <= longestText &&
    /\p{L}/u.test(line) &&
    !/[\p{Cc}\p{Cf}]/u.test(line)
  )
    return line;
  throw new Failure(
    'usage',
    `"${clip(text)}" cannot be a name or an address. Write one line with letters, of at ` +
      `most ${longestText} characters.`,
  );
}

/** The highest accepted source-of-funds code. */
export const highestCode = 999_999;
