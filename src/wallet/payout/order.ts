// Builds the instruction and the order of a fiat payout: both parties, the account, and the codes
// for the purpose, the source of the funds and the relationship (specification: endpoint 6, rule
// 7).
import { Failure } from '../../formats/failure.js';
import { fixed, type Money } from '../../formats/amount.js';
import { parseMobile } from '../../formats/country.js';
import { bankKey, payeeOf, type PayoutMethod } from './methods.js';
import type { Instruction, PayoutDetails } from '../instruction/instruction.js';
import type { Order } from '../order/orders.js';
import { clip } from '../../formats/text.js';

/** The instruction of a payout with the details of a create request. */
export function instructionOf(
  details: PayoutDetails,
  amount: Money,
  note?: string | undefined,
): Instruction {
  const { destReq } = details;
  const text = `${fixed(amount.value)}${amount.ccy.toLowerCase()}`;
  return {
    verb: 'payout',
    to: payeeOf(details).account,
    keys: [bankKey(destReq)],
    once: null,
    amount: { ...amount, written: text, side: 'gets' },
    from: details.sourceReq.ccy,
    deductFees: false,
    payout: details,
    ...(note !== undefined && { note }),
  };
}

/** Derives the order of a payout from its instruction. */
export function payoutOrder({ payout, keys }: Instruction, amount: Money): Order {
  if (payout === undefined) throw new Error('The instruction of a payout lacks its details.');
  const { sourceReq, destReq, sourceOfFunds } = payout;
  const [key = ''] = keys;
  return {
    kind: 'payout',
    body: {
      sourceReq,
      destReq: { ...destReq, amtRequested: amount.value },
      ...(sourceOfFunds !== undefined && { sourceOfFunds }),
    },
    idempotencyKey: null,
    destination: payoutDestination(destReq),
    key,
    receives: amount,
  };
}

/** Returns the destination of a payout as `method:institution:account`. */
export function payoutDestination(destReq: Parameters<typeof bankKey>[0]): string {
  const { institutionCode, account } = payeeOf({ destReq });
  return `${destReq.method}:${institutionCode}:${account}`;
}

/**
 * Reads an account number in the format of the payout method. Removes spaces, and also dashes if
 * the format has no dashes. The account number of a mobile wallet is the phone number, which may
 * lack its country code. Throws Failure `usage` for an invalid account number.
 */
export function parseAccountNumber(
  text: string,
  { code, country, institutionType, format }: PayoutMethod,
): string {
  if (institutionType === 'mobile') return parseMobile(text, country);
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
