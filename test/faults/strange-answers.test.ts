// Despite unexpected values anywhere in an answer, svcpay throws no uncaught error, and its exit
// code matches the outcome. To test more seeds, run FUZZ_SEED=1 FUZZ_RUNS=100000 npm run fuzz. If
// the test fails, its message names the seed.
import { expect } from 'vitest';
import { encodeTronAddress } from '../../src/formats/address.js';
import { isObject, type Json, type Received } from '../conformance/strict-judge.js';
import { countOf, firstSeed } from '../support/part.js';
import { test, type Strict } from '../support/strict.js';

const fromSeed = Number(process.env['FUZZ_SEED'] ?? firstSeed);
const runs = Number(process.env['FUZZ_RUNS'] ?? countOf({ part: 75, all: 1_000 }));

/** Returns a generator of pseudo-random numbers (Mulberry32) that starts with the given seed. */
function randomOf(seed: number): (below: number) => number {
  let state = seed * 0x9e3779b9;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

/** Unexpected values as JSON text, in which `__proto__` is an ordinary name. */
const strange = [
  'null',
  '{}',
  '[]',
  '""',
  '" "',
  'true',
  'false',
  '0',
  '-0',
  '-1',
  '1e308',
  '1e-9',
  '0.1',
  '253402300800000',
  '-62135596800001',
  '8640000000000001',
  '{"toString":1}',
  '{"toString":1}',
  '{"toString":1}',
  '{"toString":1,"valueOf":1}',
  '[{"toString":1}]',
  '{"__proto__":{"toString":1}}',
  '{"length":-1}',
  '{"then":1}',
  '{"toJSON":1}',
  '"NaN"',
  '"Infinity"',
  '"1e400"',
  '"-1"',
  '"0x10"',
  '"\\u0000"',
  '"\\ud800"',
  '"\\u202e"',
  '"__proto__"',
  '"constructor"',
  '"toString"',
  '"2026-13-45"',
  JSON.stringify('9'.repeat(70)),
  JSON.stringify('x'.repeat(10_000)),
  `${'['.repeat(500)}${']'.repeat(500)}`,
];

const tron = encodeTronAddress(new Uint8Array(20).fill(5));
const payout = [
  'payout --country VN --method vnd-instant --institution VCB --acct-num 0123456789 --acct-name NGUYEN',
  '--amount 500000vnd --purpose 1 --source 2 --relationship 3 --sender-type individual --sender-name Ann',
  '--sender-country US --recipient-type business --recipient-name Binh --recipient-country VN',
].join(' ');
const payments = [
  'send lnurl shop@example.com 1000sat',
  'send onchain bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4 0.0001btc',
  'send onchain bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4 0.0001btc --deduct-fees',
  `send usdt ${tron} 25usdt --from BTC`,
  `send usdt ${tron} 2usdt`,
  'swap 0.0002btc USDT',
  'swap 2usdt BTC --max-rate-loss 5%',
  payout,
] as const;
const others = [
  'receive lightning 1000sat',
  'tx list',
  'tx export --format csv',
  'tx pending',
  'wallets',
  'rates',
  'whoami',
  'payout institutions VN',
  'receive address btc',
] as const;

const exchanges = [
  ['create request', 'POST', /\/transaction\/?$/],
  ['confirmation', 'PUT', /\/confirm$/],
  ['read', 'GET', /\/transaction\/[^/]+$/],
  ['list', 'GET', /\/transaction$/],
  ['rates', 'GET', /\/rate$/],
  ['wallets', 'GET', /\/wallet\/$/],
  ['anything else', 'GET', /./],
] as const;

type Path = readonly string[];

const pathsIn = (value: unknown): Path[] =>
  typeof value !== 'object' || value === null
    ? []
    : Object.entries(value).flatMap(([name, inner]) => [
        [name],
        ...pathsIn(inner).map((rest) => [name, ...rest]),
      ]);

/** Returns a copy of a value with the value at a path replaced or deleted. */
function changed(value: unknown, [name, ...rest]: Path, put: unknown): unknown {
  if (name === undefined) return put;
  if (Array.isArray(value))
    return value.flatMap((each: unknown, index) =>
      String(index) === name
        ? rest.length === 0 && put === undefined
          ? []
          : [changed(each, rest, put)]
        : [each],
    );
  const entries = Object.entries({ ...Object(value), ...(rest.length === 0 && { [name]: put }) });
  return Object.fromEntries(
    entries.map(([key, inner]) => [key, key === name ? changed(inner, rest, put) : inner]),
  );
}

/** Names of fields that the test adds to an answer. */
const added = [
  'resultStatus',
  'error',
  'message',
  'code',
  'errorMetadata',
  'data',
  'pagination',
  'accountId',
  'kyc',
  'reqDetails',
  'amtSettled',
  'amtRequested',
  'expiresAt',
  'paymentRequest',
  'lnurlAddress',
  'sourceOfFunds',
  'toString',
  'then',
  'toJSON',
  'confirmations',
];

/**
 * Fields that decide where money goes: svcpay must not confirm a quote if the value of such a field
 * is malformed.
 */
const decisive =
  /^(?:destReq\.(?:ccy|method|reqDetails\.(?!institutionName$)\w+)|sourceReq\.(?:ccy|method)|extRefId)$/;

/** A clock that advances only when the program pauses. */
function timeOf(): { now: () => number; sleep: (ms: number) => Promise<void> } {
  let slept = 0;
  return {
    now: () => Date.now() + slept,
    sleep: async (ms) => {
      slept += ms;
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

async function runSeed(seed: number, { service, run }: Strict): Promise<void> {
  const random = randomOf(seed);
  const pick = <T>(of: readonly T[]): T => of[random(of.length)]!;
  const isPayment = random(10) < 7;
  const command = pick(isPayment ? payments : others);
  const [exchange, method, path] = pick(exchanges);
  const [skips, times] = [random(3) === 0 ? 1 : 0, pick([1, 1, 99])];
  const [where, value, deletes, isTable] = [
    random(1_000_000),
    pick(strange),
    random(8) === 0,
    random(2) === 0,
  ];
  const add = random(3) === 0 ? [pick(added)] : [];
  let met = 0;
  const changes: string[] = [];
  service.temper.rates = random(2) === 0 ? { BTCUSDT: 100_000 } : undefined;
  service.temper.carries = (request: Received, body) => {
    if (
      request.method !== method ||
      !path.test(request.path) ||
      request.path.includes('token-signature')
    )
      return body;
    met += 1;
    if (met <= skips || met > skips + times || body === '') return body;
    const json: Json = JSON.parse(body);
    const paths = [[], ...pathsIn(json)].filter(
      (at) =>
        add.length === 0 ||
        isObject(at.reduce((value: unknown, name) => Object(value)[name], json)),
    );
    const at = [
      ...(paths[add.length > 0 && where % 2 === 0 ? 0 : where % paths.length] ?? []),
      ...add,
    ];
    changes.push(at.join('.'));
    // The value is inserted as text, because JSON.stringify omits `__proto__`.
    const mark = '"\u2603"';
    return JSON.stringify(
      changed(json, at, deletes && at.length > 0 ? undefined : '\u2603'),
    ).replace(mark, () => value);
  };
  const before = service.moved().length;
  const line = `${command}${isPayment ? ` --ref fuzz-${seed} --yes --wait-timeout 20s` : ''}${isTable ? ' -o table' : command.includes('--format') ? '' : ' --json'}`;
  const end = await run(line, 'home', timeOf());
  const moved = service.moved().length - before;
  const details = {
    seed,
    line,
    exchange,
    changes,
    value: deletes ? 'deleted' : value.slice(0, 60),
    moved,
    exitCode: end.exitCode,
    stderr: end.stderr.slice(0, 600),
  };
  const replay = `FUZZ_SEED=${seed} FUZZ_RUNS=1 npm run fuzz\n${JSON.stringify(details, undefined, 1)}`;
  if (end.stderr.includes('Something unexpected')) throw new Error(`An uncaught error: ${replay}`);
  if (!isPayment) return;
  if (moved > 1) throw new Error(`Paid twice: ${replay}`);
  if (moved === 1 && ![0, 6, 8].includes(end.exitCode))
    throw new Error(`Money moved, and the exit code denies it: ${replay}`);
  if (moved === 0 && end.exitCode === 0)
    throw new Error(`Nothing moved, and the exit code says paid: ${replay}`);
  if (
    moved === 1 &&
    exchange === 'create request' &&
    skips === 0 &&
    add.length === 0 &&
    changes.some((at) => decisive.test(at))
  )
    throw new Error(`A strange quote was confirmed: ${replay}`);
}

test(
  `svcpay ends without an uncaught error and with the right exit code in ${runs} runs against malformed answers`,
  { timeout: 60_000 + runs * 300 },
  async ({ strict }) => {
    const failures: string[] = [];
    for (let seed = fromSeed; seed < fromSeed + runs && failures.length < 5; seed += 1) {
      await runSeed(seed, strict).catch((error: unknown) =>
        failures.push(error instanceof Error ? error.message : String(error)),
      );
    }
    expect(failures.join('\n')).toBe('');
  },
);
