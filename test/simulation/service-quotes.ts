// The transactions of the service model: their amounts, their deviations from the order, and how
// responses show them.
import { invoiceSats, satoshi } from './wishes.js';
import type { ServiceParameters } from './service-parameters.js';
import type { Chance, World } from './world.js';

interface QuotedSide {
  readonly ccy: string;
  readonly method: string;
  readonly amtRequested?: number;
  readonly reqDetails?: Readonly<Record<string, string>>;
  readonly kyc?: { readonly details: Readonly<Record<string, string>> };
}

/** The body of a create request. */
interface Asked {
  readonly extRefId: string;
  readonly sourceReq: QuotedSide;
  readonly destReq: QuotedSide;
  readonly note?: string;
  readonly deductNetworkFeesFromDest?: boolean;
  readonly sourceOfFunds?: object;
}

/**
 * The ways in which a transaction can differ from its order. A person may approve the last two
 * deviations in this list.
 */
export const deviations = [
  'another destination',
  'another amount',
  'another currency',
  'another name',
  'another resolved address',
  'another account number',
  'fees taken otherwise',
  'a negative fee',
  'a rate that its amounts contradict',
  'fees above the amount',
  'a bad rate',
] as const;

export type Deviation = (typeof deviations)[number];

export interface ModelTransaction {
  readonly txnId: string;
  readonly extRefId: string;
  /** The body of the create request that made the transaction. */
  readonly asked: Asked;
  readonly deviation: Deviation | undefined;
  readonly source: QuotedSide;
  readonly dest: QuotedSide;
  readonly amounts: { readonly source: number; readonly dest: number };
  readonly fee: number;
  readonly fxRate: number;
  readonly deducts: boolean | undefined;
  readonly createdAt: number;
  readonly expiresAt: number;
  /** Whether the service refuses every confirmation of the transaction. */
  readonly isRefused: boolean;
  /** Whether the money has moved although the transaction ended as `error`. */
  readonly movesInError: boolean;
  state: string;
  readonly history: { readonly at: number; readonly state: string }[];
  /** Whether a received confirmation will take effect even after the quote's expiry. */
  isWaiting: boolean;
  /** Whether a confirmation was received but has not taken effect yet. */
  isTaken: boolean;
  /**
   * The process whose confirmation took effect, or `byItself` if the transaction started without a
   * confirmation.
   */
  movedBy: string | undefined;
  /** The time at which the process sent the confirmation that took effect. */
  submittedAt: number | undefined;
  /** The processes that sent a confirmation. */
  readonly confirmedBy: Set<string>;
}

const worth: Readonly<Record<string, number>> = { BTC: 100_000, USDT: 1, VND: 0.00004 };
const worthOf = (ccy: string): number => worth[ccy] ?? 1;
const decimals: Readonly<Record<string, number>> = { BTC: 8, USDT: 6, VND: 0 };
const round = (value: number, ccy: string): number => Number(value.toFixed(decimals[ccy] ?? 2));

/**
 * The possible fees of a quote: satoshis if the currency is BTC, otherwise thousandths of a unit of
 * the currency. Most quotes have the same fee.
 */
const fees = [20, 20, 20, 50, 10] as const;
const feeIn = (ccy: string, chance: Chance): number =>
  round(chance.pick(fees) * (ccy === 'BTC' ? satoshi : 0.001), ccy);

export function madeFrom(
  asked: Asked,
  txnId: string,
  world: World,
  parameters: ServiceParameters,
): ModelTransaction {
  const { chance } = world;
  const right = plain(asked, chance);
  const deviation = chance.hits(parameters.making)
    ? pickDeviation(asked, parameters, chance)
    : undefined;
  const now = world.now();
  return {
    txnId,
    extRefId: asked.extRefId,
    asked,
    ...right,
    ...(deviation !== undefined && withDeviation(right, deviation)),
    deviation,
    createdAt: now,
    expiresAt: now + parameters.quoteLifeMs,
    isRefused: chance.hits(parameters.refusing),
    movesInError: parameters.erring > 0 && chance.hits(0.5),
    state: 'quoted',
    history: [{ at: now, state: 'quoted' }],
    isWaiting: false,
    isTaken: false,
    movedBy: undefined,
    submittedAt: undefined,
    confirmedBy: new Set(),
  };
}

type Figures = Pick<ModelTransaction, 'source' | 'dest' | 'amounts' | 'fee' | 'fxRate' | 'deducts'>;

function plain({ sourceReq, destReq, deductNetworkFeesFromDest }: Asked, chance: Chance): Figures {
  const [from, to] = [sourceReq.ccy, destReq.ccy];
  const fxRate = Number((worthOf(from) / worthOf(to)).toPrecision(12));
  const paid = destReq.reqDetails?.['paymentRequest'];
  const gets = paid === undefined ? destReq.amtRequested : invoiceSats(paid) * satoshi;
  const source = sourceReq.amtRequested ?? (gets ?? 0) / fxRate;
  const dest = gets ?? source * fxRate;
  return {
    source: sourceReq,
    dest:
      destReq.method === 'lnurl'
        ? {
            ...destReq,
            reqDetails: {
              ...destReq.reqDetails,
              lnurlAddress: destReq.reqDetails?.['address'] ?? '',
            },
          }
        : destReq,
    amounts: { source: round(source, from), dest: round(dest, to) },
    fee: feeIn(from, chance),
    fxRate,
    deducts: deductNetworkFeesFromDest,
  };
}

function pickDeviation(
  asked: Asked,
  parameters: ServiceParameters,
  chance: Chance,
): Deviation | undefined {
  const possible = deviationsOf(asked, parameters);
  return parameters.deviation === undefined
    ? chance.pick(possible)
    : possible.find((each) => each === parameters.deviation);
}

/** Returns the ways in which the transaction of this create request can differ from its order. */
function deviationsOf(
  { sourceReq, destReq }: Asked,
  { computesAmounts }: ServiceParameters,
): [Deviation, ...Deviation[]] {
  const isExchange = sourceReq.ccy !== destReq.ccy;
  const names = (...deviations: [when: boolean, deviation: Deviation][]): Deviation[] =>
    deviations.flatMap(([when, deviation]) => (when ? [deviation] : []));
  return [
    'a negative fee',
    'another currency',
    'fees above the amount',
    ...names(
      [destReq.method !== 'servicepay', 'another destination'],
      [destReq.method !== 'lightning', 'another amount'],
      [destReq.kyc !== undefined, 'another name'],
      [destReq.method === 'lnurl', 'another resolved address'],
      [destReq.reqDetails?.['acctNum'] !== undefined, 'another account number'],
      [destReq.method === 'on-chain', 'fees taken otherwise'],
      [isExchange && computesAmounts, 'a rate that its amounts contradict'],
      [isExchange, 'a bad rate'],
    ),
  ];
}

function withDeviation(right: Figures, deviation: Deviation): Partial<Figures> {
  const { source, dest, amounts, fee, fxRate } = right;
  const details = (reqDetails: Record<string, string>): Partial<Figures> => ({
    dest: { ...dest, reqDetails: { ...dest.reqDetails, ...reqDetails } },
  });
  const elsewhere = {
    paymentRequest: 'lnbc1other',
    address: 'somebody@else.example',
    acctNum: '999',
  };
  switch (deviation) {
    case 'another destination':
      return details(
        Object.fromEntries(
          Object.entries(elsewhere).filter(([name]) => dest.reqDetails?.[name] !== undefined),
        ),
      );
    case 'another amount':
      return {
        amounts: { source: amounts.source * 10, dest: amounts.dest * 10 },
        source: timesTen(source),
        dest: timesTen(dest),
      };
    case 'another currency':
      return { dest: { ...dest, ccy: dest.ccy === 'BTC' ? 'USDT' : 'BTC' } };
    case 'another name':
      return {
        dest: {
          ...dest,
          kyc: { ...dest.kyc, details: { ...dest.kyc?.details, legalFullName: 'Mallory' } },
        },
      };
    case 'another resolved address':
      return details({ lnurlAddress: 'somebody@else.example' });
    case 'another account number':
      return details({ bankAcctNum: '999' });
    case 'fees taken otherwise':
      return { deducts: right.deducts !== true };
    case 'a negative fee':
      return { fee: -fee };
    case 'fees above the amount':
      return {
        fee: round(amounts.source * 1.5, source.ccy) + (source.ccy === 'BTC' ? 2_000 * satoshi : 2),
      };
    case 'a rate that its amounts contradict':
      return { fxRate: Number((fxRate * 1.5).toPrecision(12)) };
    case 'a bad rate':
      return source.amtRequested === undefined
        ? {
            fxRate: fxRate / 2,
            amounts: { ...amounts, source: round(amounts.source * 2, source.ccy) },
          }
        : { fxRate: fxRate / 2, amounts: { ...amounts, dest: round(amounts.dest / 2, dest.ccy) } };
  }
}

const timesTen = (side: QuotedSide): QuotedSide => ({
  ...side,
  ...(side.amtRequested !== undefined && { amtRequested: side.amtRequested * 10 }),
});

/** Returns the amount debited. */
export const totalOf = ({ amounts, fee, deducts }: ModelTransaction): number =>
  deducts === true ? amounts.source : amounts.source + fee;

/** Returns a transaction as it appears in the responses of create, confirm and get. */
export function shown(
  txn: ModelTransaction,
  txnState: string,
  { computesAmounts }: ServiceParameters,
): object {
  const {
    txnId,
    extRefId,
    asked,
    source,
    dest,
    amounts,
    fee,
    fxRate,
    deducts,
    createdAt,
    expiresAt,
  } = txn;
  const computed = (amtRequested: number): object => (computesAmounts ? { amtRequested } : {});
  return {
    txnId,
    extRefId,
    txnState,
    ...(asked.note !== undefined && { note: asked.note }),
    ...(asked.sourceOfFunds !== undefined && { sourceOfFunds: asked.sourceOfFunds }),
    ...(deducts !== undefined && { deductNetworkFeesFromDest: deducts }),
    sourceReq: {
      ...computed(amounts.source),
      ...source,
      servicepayFees: fee,
      networkFees: 0,
      expiresAt,
    },
    destReq: { ...computed(amounts.dest), ...dest },
    fxRate,
    createdAt,
  };
}

/**
 * Returns list rows of payments from before the schedule, one per minute, and a further row that is
 * dated an hour ahead if `datesAhead` is set.
 */
export const olderPayments = (
  { olderPayments: count, datesAhead }: ServiceParameters,
  now: number,
): { readonly txnId: string; readonly createdAt: number }[] =>
  [
    ...Array.from({ length: count }, (_, index) => now - (count - index) * 60_000),
    ...(datesAhead ? [now + 3_600_000] : []),
  ].map((createdAt, index) => ({
    txnId: `older-${index}`,
    extRefId: `older-ref-${index}`,
    txnState: 'completed',
    createdAt,
    sourceReq: { ccy: 'BTC', method: 'servicepay', amtRequested: satoshi },
    destReq: { ccy: 'BTC', method: 'lightning', amtRequested: satoshi },
  }));

/**
 * Returns a transaction as the list shows it, with the currency, method and amount of each side.
 */
export function listed(
  { txnId, extRefId, source, dest, amounts, createdAt }: ModelTransaction,
  txnState: string,
): object {
  return {
    txnId,
    extRefId,
    txnState,
    createdAt,
    sourceReq: { ccy: source.ccy, method: source.method, amtRequested: amounts.source },
    destReq: { ccy: dest.ccy, method: dest.method, amtRequested: amounts.dest },
  };
}
