// Refusals of single functions, each with its sentence.
import { chmodSync, mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { checkKey } from '../src/api/auth.js';
import { interrupted } from '../src/api/timers.js';
import { wireJson } from '../src/api/wire.js';
import { readStdinBytes } from '../src/cli/process.js';
import { encodeInvoice } from '../src/formats/bolt11/encode.js';
import { databaseFailure } from '../src/store/database/postgres.js';
import { anotherDatabase, unidentifiedDatabase } from '../src/store/database/postgres-schema.js';
import { checkOutbox } from '../src/store/files/outbox.js';
import { writeSealed } from '../src/cli/statement/close.js';
import { checkNotLost, Damage, sqliteFailure } from '../src/store/files/sqlite-file.js';
import { checkNames } from '../src/terminal/rows/view.js';

const folder = mkdtempSync(join(tmpdir(), 'svcpay-'));
const file = {
  name: 'journal',
  path: join(folder, 'none.db'),
  applicationId: 1,
  isKnown: true,
  advice: { hint: undefined, next: undefined },
  steps: [],
};
const failing = (failure: unknown) => (): never => {
  throw failure;
};
const bytes = (count: number) => ({
  stdin: { isTTY: false, open: () => Readable.from([Buffer.alloc(count)]) },
});

const cases: readonly (readonly [sentence: string, refuse: () => unknown])[] = [
  ['NaN cannot be written as JSON.', () => wireJson(Number.NaN)],
  [
    'The API key contains an invalid character, or a blank at its start or end.',
    () => checkKey({ apiKey: ' key', apiSecret: '' }),
  ],
  ['Interrupted.', failing(interrupted(AbortSignal.abort()))],
  [
    'Nothing is piped into svcpay.',
    () => readStdinBytes({ stdin: { isTTY: true, open: () => Readable.from([]) } }),
  ],
  ['The input on stdin is larger than 16 MiB.', () => readStdinBytes(bytes(16 * 1024 * 1024 + 1))],
  [
    'A hash or secret of an invoice must have 32 bytes.',
    () =>
      encodeInvoice(
        { network: 'testnet', paymentHash: 'ab', paymentSecret: 'ab', timestamp: 1 },
        new Uint8Array(32).fill(1),
      ),
  ],
  ['"x" is not a field of this command, which has no fields.', () => checkNames(['x'], [])],
  [
    'The database of DATABASE has no free connections',
    failing(
      databaseFailure('DATABASE', Object.assign(new Error(), { code: '53300' }), () => 'ann'),
    ),
  ],
  [
    'The database of DATABASE has the id b, but this home recorded its payments in the database a. ' +
      'With the database b, svcpay could make those payments again.',
    failing(anotherDatabase('DATABASE', 'b', 'a')),
  ],
  [
    'No id is set for the database of DATABASE, and the settings cannot store an id.',
    failing(unidentifiedDatabase('DATABASE', 'b')),
  ],
  [
    `Not proposed: other users may replace files in ${folder}`,
    () => {
      const shared = join(folder, 'shared');
      mkdirSync(shared);
      chmodSync(shared, 0o777);
      checkOutbox(shared);
    },
  ],
  [
    `${join(folder, 'sealed')} cannot be written.`,
    () => {
      mkdirSync(join(folder, 'sealed.new'));
      writeSealed(join(folder, 'sealed'), 'text');
    },
  ],
  [
    `The journal ${file.path} is missing. Perhaps its disk is not mounted.`,
    () => checkNotLost(file),
  ],
  [
    `The journal ${file.path} is damaged and was not changed.`,
    failing(sqliteFailure(file, new Damage('is damaged'))),
  ],
];

test.for(cases)('%s', async ([sentence, refuse]) => {
  await expect((async () => refuse())()).rejects.toThrow(sentence);
});
