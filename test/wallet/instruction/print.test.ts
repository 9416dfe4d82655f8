// A printed instruction is read back as the same instruction, by a shell and the same readers.
import { execFileSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readSwapWords } from '../../../src/cli/payment/payment-options.js';
import { readDraft, answerOptions, completePayout } from '../../../src/cli/payout/payout-flow.js';
import { readAll } from '../../../src/cli/values.js';
import { encodeInvoice } from '../../../src/formats/bolt11/encode.js';
import { Failure } from '../../../src/formats/failure.js';
import { commandLine } from '../../../src/terminal/next-step.js';
import {
  digestOf,
  type Instruction,
  readSwap,
} from '../../../src/wallet/instruction/instruction.js';
import { commandOf } from '../../../src/wallet/instruction/words.js';
import { readSendNow, type SendWords } from '../../../src/wallet/instruction/send.js';

const now = 1_900_000_000_000;
const around = { network: 'testnet', now } as const;
const bitcoin = 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx';
const invoice = encodeInvoice(
  {
    network: 'testnet',
    amountMsat: 1_000_000n,
    timestamp: now / 1000,
    paymentHash: '11'.repeat(32),
    paymentSecret: '22'.repeat(32),
    description: 'tea',
    expiry: 600,
  },
  new Uint8Array(32).fill(7),
);

const oneOf = <T>(...values: readonly T[]) => fc.constantFrom(...values);
const amounts = ['10usd', '0.5btc', '50 000 sat', '25usdt', 'all', '7.5', undefined];
const ref = fc.string({ minLength: 1, maxLength: 12, unit: 'binary' }).filter((text) => {
  return text.trim() === text && !/[\p{Cc}\p{Cs}]/u.test(text);
});

const sends = fc.record({
  to: oneOf(
    'ada@example.com',
    bitcoin,
    'TJCnKsPa7y5okkXvQAidZBzqx3QyQ6sxMW',
    invoice,
    `bitcoin:${bitcoin}?amount=0.00001&lightning=${invoice}`,
    `bitcoin:${bitcoin}?lightning=${invoice}`,
    `bitcoin:${bitcoin}`,
  ),
  amount: oneOf(...amounts),
  spend: oneOf(undefined, undefined, undefined, undefined, '25usdt', '10usd'),
  from: oneOf(undefined, 'BTC', 'USDT', 'USD'),
  via: oneOf(undefined, undefined, undefined, undefined, 'lightning' as const, 'onchain' as const),
  deductFees: fc.boolean(),
  note: fc.option(ref, { nil: undefined }),
});

const swaps = fc.tuple(
  oneOf('25usdt USDT BTC', '0.5btc USDT BTC', '10 USD BTC', 'all BTC USDT', '1000sat USD BTC'),
  fc.boolean(),
);

const payouts = fc.record({
  amount: oneOf('500000vnd', '1 000 vnd'),
  from: oneOf(undefined, 'USDT'),
  senderName: oneOf('Jane Roe', "Anne O'Neil $HOME"),
  recipientPhone: oneOf(undefined, '+84 901 234 567'),
});

function orNone(read: () => Instruction): Instruction[] {
  try {
    return [read()];
  } catch (error) {
    if (error instanceof Failure) return [];
    throw error;
  }
}

const payoutOf = async (raw: Record<string, string | undefined>): Promise<Instruction> => {
  const { from, ...given } = raw;
  const draft = readDraft(
    { ...readAll(answerOptions, given), recipient: undefined, from },
    {},
    undefined,
  );
  return completePayout(draft);
};

const wholePayout = {
  method: 'vnd-instant',
  institution: '970436',
  acctNum: '0123456789',
  acctName: 'Le Van A',
  purpose: '1',
  source: '2',
  relationship: '3',
  senderType: 'individual',
  senderCountry: 'CA',
  recipientType: 'individual',
  recipientName: 'Le Van A',
  recipientCountry: 'VN',
};

/** Splits commands into their words, as a shell does. */
function wordsOf(lines: readonly string[]): string[][] {
  const script = `svcpay() { printf '%s\\0' "$@"; printf '\\0'; }\n${lines.join('\n')}`;
  const read = execFileSync('bash', ['-c', script], { encoding: 'utf8' });
  return read
    .split('\0\0')
    .slice(0, -1)
    .map((each) => each.split('\0'));
}

const flags = ['receive', 'deduct-fees'];

function parsed([verb = '', ...args]: readonly string[]) {
  const names = args.flatMap((arg) => /^--([a-z-]+)/.exec(arg)?.[1] ?? []);
  const options = Object.fromEntries(
    names.map((name) => [name, { type: flags.includes(name) ? 'boolean' : 'string' } as const]),
  );
  const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
  const text = (name: string) => (typeof values[name] === 'string' ? values[name] : undefined);
  return { verb, values, positionals, text };
}

async function readBack(words: readonly string[]): Promise<Instruction> {
  const { verb, values, positionals, text } = parsed(words);
  const note = text('note');
  if (verb === 'swap') {
    const receive = values['receive'] === true;
    return readSwap(readSwapWords(positionals.join(' '), receive), receive, note);
  }
  if (verb === 'payout') {
    const camel = (name: string) => name.replace(/-([a-z])/g, (_, c: string) => c.toUpperCase());
    const raw = Object.keys(values).map((name) => [camel(name), text(name)] as const);
    return payoutOf(Object.fromEntries(raw.filter(([name]) => name !== 'ref')));
  }
  const via = text('via');
  const send: SendWords = {
    to: positionals[0],
    amount: positionals[1],
    spend: text('spend'),
    from: text('from'),
    via: via === 'lightning' || via === 'onchain' ? via : undefined,
    deductFees: values['deduct-fees'] === true,
    note,
  };
  return readSendNow(send, around).instruction;
}

test('a shell and the readers read the command of an instruction as the same instruction', async () => {
  const seed = { seed: 7 };
  const instructions = [
    ...fc
      .sample(sends, { numRuns: 600, ...seed })
      .flatMap((words) => orNone(() => readSendNow(words, around).instruction)),
    ...fc
      .sample(swaps, { numRuns: 30, ...seed })
      .flatMap(([words, receive]) =>
        orNone(() => readSwap(readSwapWords(words, receive), receive)),
      ),
    ...(await Promise.all(
      fc
        .sample(payouts, { numRuns: 20, ...seed })
        .map((more) => payoutOf({ ...wholePayout, ...more })),
    )),
  ];
  expect(instructions.length).toBeGreaterThan(100);
  const refs = fc.sample(ref, { numRuns: instructions.length, ...seed });
  const lines = instructions.map((each, i) => commandLine(commandOf(each, refs[i] ?? 'R'), {}));
  const words = wordsOf(lines);
  for (const [i, instruction] of instructions.entries()) {
    const read = await readBack(words[i] ?? []);
    expect({ line: lines[i], digest: digestOf(read), note: read.note }).toEqual({
      line: lines[i],
      digest: digestOf(instruction),
      note: instruction.note,
    });
    expect(parsed(words[i] ?? []).text('ref')).toBe(refs[i]);
  }
});
