// Writes batch files for tests, and reads which of their payments the service completed.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { svcpay } from './in-process.js';
import type { Environment } from './svcpay.js';

export const batchHead = 'ref,to,amount,currency,note';

/** Writes a batch file into the home of the test. */
export function batchFile(home: string, lines: readonly string[], head = batchHead): string {
  const file = join(home, 'rows.csv');
  writeFileSync(file, [head, ...lines, ''].join('\n'));
  return file;
}

export const lightningRows = (count: number): string[] =>
  Array.from(
    { length: count },
    (_, index) => `row-${index + 1},user${index + 1}@example.com,${1000 + index}sat,,`,
  );

interface Listed {
  readonly extRefId: string;
  readonly txnState: string;
}

/** The states of payments that moved nothing, including `canceled`, which live services use. */
const unpaid = new Set(['quoted', 'expired', 'usercanceled', 'canceled', 'failed']);

/** Resolves with the sorted references of all transactions whose state is not in `unpaid`. */
export async function paidReferences(around: Environment): Promise<string[]> {
  const run = await svcpay(['tx', 'list', '--all', '--since', '30d', '--json'], around);
  expect(run).toMatchObject({ exitCode: 0 });
  const all: Listed[] = JSON.parse(run.stdout);
  const paid = all.filter(({ txnState }) => !unpaid.has(txnState));
  return paid.map(({ extRefId }) => extRefId.replace(/~\d+$/, '')).toSorted();
}

/** Returns the last outcome of each reference in a result file. */
export function outcomes(file: string): Record<string, string> {
  const lines = readFileSync(`${file}.result.csv`, 'utf8').trimEnd().split('\n').slice(1);
  return Object.fromEntries(lines.map((line) => [line.split(',')[1], line.split(',')[4]]));
}
