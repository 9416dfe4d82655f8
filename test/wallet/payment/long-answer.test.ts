// If an answer takes longer than the lease of a process, the process still keeps the payment.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openJournal } from '../../../src/store/journal/sqlite-journal.js';
import type { Claim } from '../../../src/store/journal/journal.js';
import type { PaymentService } from '../../../src/wallet/payment/model.js';
import { pay } from '../../../src/wallet/payment/pay.js';
import { asked, bench } from '../support/machine.js';

const second = 1_000;
const answerTakes = 36 * second;

test.each(['createTransaction', 'confirmTransaction'] as const)(
  'pay keeps its lease and sends %s once if the answer takes 36 s',
  async (slow) => {
    const folder = mkdtempSync(join(tmpdir(), 'svcpay-long-'));
    const made = bench();
    const journal = openJournal({
      path: join(folder, 'journal.db'),
      isAlive: () => true,
      now: () => made.time,
    });
    onTestFinished(async () => {
      await journal.close();
      rmSync(folder, { recursive: true, force: true });
    });
    const beats = new Set<{ everyMs: number; at: number; action: () => void }>();
    const every = (ms: number, action: () => void): (() => void) => {
      const beat = { everyMs: ms, at: made.time + ms, action };
      beats.add(beat);
      return () => void beats.delete(beat);
    };
    const taken: (Claim | undefined)[] = [];
    const wait = async (): Promise<void> => {
      for (const end = made.time + answerTakes; made.time < end;) {
        made.time += second;
        for (const beat of [...beats].filter(({ at }) => at <= made.time)) {
          beat.at += beat.everyMs;
          beat.action();
        }
        // The journal executes its calls in order: it first extends the lease, and then refuses the
        // claim of the other process.
        const payment = await journal.find('scope', 'R');
        taken.push(await journal.claim(payment?.id ?? '', 'rival'));
      }
    };
    const { service } = made.deps;
    const slowly = {
      [slow]: async (...args: never[]) =>
        [await wait(), await Reflect.apply(service[slow], service, args)][1],
    };
    const deps = {
      ...made.deps,
      journal,
      every,
      service: { ...service, ...slowly } satisfies PaymentService,
    };
    const txn = await pay(
      { instruction: asked, ref: 'R', terms: {}, consent: { by: 'yes' } },
      { wait: 'forever', retry: false },
      deps,
    );
    expect(txn).toMatchObject({ txnState: 'completed', extRefId: 'R' });
    expect(taken.length).toBeGreaterThanOrEqual(answerTakes / second);
    expect(taken.filter((claim) => claim !== undefined)).toEqual([]);
    expect(made.log.filter((line) => /^(POST|PUT)/.test(line))).toEqual(['POST R', 'PUT t1']);
  },
);
