// Reads a payout from a file. The file contains the body of a create request, which svcpay checks
// field by field and sends unchanged.
import * as v from 'valibot';
import { fromWireNames } from '../../api/wire.js';
import { fixed, fromWire, parseAmount, parseCurrency } from '../../formats/amount.js';
import { parseCountryCode, parsePhone } from '../../formats/country.js';
import { Failure, orFailure, type FailureDetails, invalid } from '../../formats/failure.js';
import { jsonIn, clip } from '../../formats/text.js';
import type { Instruction } from '../instruction/instruction.js';
import {
  type PayoutMethod,
  methodOf,
  payeeOf,
  highestCode,
  instructionOf,
  parseAccountNumber,
  parseLine,
} from './methods.js';

/**
 * Returns a schema for a text that `parse` accepts. For a text that `parse` does not accept, the
 * error of `parse` describes the problem.
 */
const readableBy = (parse: (text: string) => unknown) =>
  v.pipe(
    v.string(),
    v.rawCheck(({ dataset, addIssue }) => {
      const read = dataset.typed && orFailure(() => parse(dataset.value));
      if (read instanceof Failure) addIssue({ message: read.message });
    }),
  );

const code = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(highestCode));
const word = v.pipe(
  v.string(),
  v.regex(/^[!-~]{1,64}$/, "The institution's code must have 1 to 64 visible ASCII characters."),
);

const kycSchema = v.strictObject({
  type: v.picklist(['individual', 'business']),
  details: v.strictObject({
    legalFullName: readableBy(parseLine),
    countryCode: readableBy(parseCountryCode),
    contactNumber: v.exactOptional(readableBy(parsePhone)),
    address1: v.exactOptional(readableBy(parseLine)),
  }),
});

const namedAccountSchema = v.strictObject({
  acctName: readableBy(parseLine),
  acctNum: v.string(),
  institutionCode: word,
  institutionName: v.exactOptional(v.string()),
});
const bankAccountSchema = v.strictObject({ bankAcctNum: v.string(), institutionCode: word });

/** The account of a payout, in one of the two sets of fields from the specification. */
const accountSchema = v.lazy((input) =>
  typeof input === 'object' && input !== null && 'bankAcctNum' in input
    ? bankAccountSchema
    : namedAccountSchema,
);

const bodySchema = v.strictObject({
  sourceReq: v.strictObject({
    ccy: readableBy(parseCurrency),
    method: v.literal('servicepay'),
    reqDetails: v.exactOptional(v.strictObject({})),
    kyc: kycSchema,
  }),
  destReq: v.strictObject({
    ccy: v.string(),
    method: v.string(),
    amtRequested: v.pipe(v.number(), v.finite()),
    reqDetails: accountSchema,
    kyc: kycSchema,
  }),
  extRefId: v.exactOptional(v.string()),
  note: v.exactOptional(v.string()),
  /**
   * `deductNetworkFeesFromDest` must be false or missing, because the amount of a payout is the
   * amount that arrives.
   */
  deductNetworkFeesFromDest: v.exactOptional(v.literal(false)),
  sourceOfFunds: v.exactOptional(
    v.strictObject({ purpose: code, source: code, relationship: code }),
  ),
});

type Body = v.InferOutput<typeof bodySchema>;

interface PayoutFile {
  readonly instruction: Instruction;
  readonly method: PayoutMethod;
  readonly ref: string | undefined;
}

/**
 * Reads a payout from the text of a file. Throws Failure `usage` with the name of the field for a
 * missing field or a field that svcpay would not send. Throws Failure `usage` for a number that
 * JSON cannot represent exactly.
 * @param serviceName the service name, because the file may use the identifiers with this name as
 * well as the identifiers from the specification
 */
export function readPayoutFile(text: string, serviceName: string): PayoutFile {
  const parsed = v.safeParse(bodySchema, fromWireNames(parseExactly(text), serviceName));
  if (!parsed.success) throw unreadable(parsed.issues[0]);
  const { extRefId, note, ...body } = parsed.output;
  const method = namedMethod(body);
  const { ccy, amtRequested } = body.destReq;
  if (ccy !== method.country.ccy)
    throw wrong('destReq.ccy', `${method.code} pays out ${method.country.ccy}, not ${ccy}.`);
  const amount = parseAmount(`${fixed(fromWire(amtRequested))}${ccy}`);
  checkFunds(body, method);
  const { amtRequested: _amount, ...destReq } = body.destReq;
  const details = { ...body, destReq };
  parseAccountNumber(payeeOf(details).account, method);
  return { instruction: instructionOf(details, amount, note), method, ref: extRefId };
}

function namedMethod({ destReq }: Body): PayoutMethod {
  const found = methodOf(destReq);
  if (found !== undefined) return found;
  const { method, ccy } = destReq;
  const why = `There is no payout method "${clip(method)}" for ${ccy.slice(0, 8)}.`;
  throw wrong('destReq.method', why, { next: { do: 'see-payout-methods' } });
}

function checkFunds({ sourceReq, sourceOfFunds }: Body, { country }: PayoutMethod): void {
  if (sourceOfFunds !== undefined || sourceReq.kyc.details.countryCode === country.code) return;
  throw wrong(
    'sourceOfFunds',
    'The field is missing, but international payouts require this field.',
  );
}

/** Parses JSON, and refuses a number that would lose digits. */
function parseExactly(text: string): unknown {
  const value = jsonIn(text);
  // The message omits the reason that Node reports, because that reason quotes the file.
  if (value === undefined) throw invalid('The file is not JSON.');
  for (const [literal] of text.matchAll(/"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g)) {
    if (literal.startsWith('"')) continue;
    if (!isExact(literal))
      throw invalid(`The number ${clip(literal)} has more digits than a JSON number can hold.`);
  }
  return value;
}

function isExact(literal: string): boolean {
  const number = Number(literal);
  return Number.isFinite(number) && fromWire(number).eq(literal);
}

function unreadable(issue: v.BaseIssue<unknown>): Failure {
  const field = v.getDotPath(issue) ?? 'The body';
  if (issue.received === 'undefined') return wrong(field, 'The field is missing.');
  return issue.expected === 'never'
    ? wrong(field, 'A payout has no field with this name.')
    : wrong(field, issue.message);
}

const wrong = (field: string, why: string, details: FailureDetails = {}): Failure =>
  invalid(`${field}: ${why}`, details);
