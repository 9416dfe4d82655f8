// Reads the payee of a payout from the destination side of a transaction. Pure.
import type { DetailName, RequestSide } from '../../api/types.js';
import { entryOf, isFields } from '../../formats/text.js';
import { methodsIn, type PayoutMethod } from './methods.js';

export interface Payee {
  readonly name: string;
  readonly account: string;
  readonly institutionCode: string;
  readonly institutionName: string | undefined;
}

type PayeeSide = Pick<RequestSide, 'method' | 'ccy'> & {
  readonly reqDetails?: Readonly<Partial<Record<DetailName, unknown>>> | null | undefined;
  readonly kyc?: { readonly details?: unknown } | null | undefined;
};

/**
 * Returns the recipient of a payout, from either of the two sets of account fields in the
 * specification.
 */
export function payeeOf({ destReq }: { readonly destReq: PayeeSide }): Payee {
  const detail = (field: DetailName): string | undefined => textIn(destReq.reqDetails, field);
  return {
    name: detail('acctName') ?? textIn(destReq.kyc?.details, 'legalFullName') ?? '',
    account: detail('acctNum') ?? detail('bankAcctNum') ?? '',
    institutionCode: detail('institutionCode') ?? '',
    institutionName: detail('institutionName'),
  };
}

function textIn(fields: unknown, name: string): string | undefined {
  const value = isFields(fields) ? entryOf(fields, name) : undefined;
  return typeof value === 'string' ? value : undefined;
}

/**
 * Finds the payout method of a destination, or undefined for a method that svcpay does not know. If
 * the method is `mobile`, as in an example of the specification, the recipient's country and
 * currency determine the payout method.
 */
export function methodOf({ method, ccy, kyc }: PayeeSide): PayoutMethod | undefined {
  const country = textIn(kyc?.details, 'countryCode');
  return methodsIn().find((each) =>
    method === 'mobile'
      ? each.institutionType === 'mobile' &&
        each.country.ccy === ccy &&
        each.country.code === country
      : each.code === method,
  );
}

/** The destination key of a payout: `bank:COUNTRY/METHOD/INSTITUTION:ACCOUNT`. */
export function bankKey(destReq: PayeeSide): string {
  const method = methodOf(destReq);
  const { institutionCode, account } = payeeOf({ destReq });
  const number = method?.institutionType === 'mobile' ? account.replace(/^\+/, '') : account;
  const place = `${method?.country.code ?? ''}/${method?.code ?? destReq.method ?? ''}`;
  return `bank:${place}/${institutionCode.toUpperCase()}:${number}`;
}
