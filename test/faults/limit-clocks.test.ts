// Tests the daily limit if the machine clock or the service clock is wrong, or if the service sends
// no dates.
import { describe, expect } from 'vitest';
import { pathToFileURL } from 'node:url';
import { join } from 'node:path';
import { lnurl, test, type Strict } from '../support/strict.js';
import { svcpay } from '../support/svcpay.js';

const hour = 3_600_000;
const day = 24 * hour;
const year = 365 * day;
/**
 * The time between two rounds of payments, after which payments of the earlier round no longer
 * count.
 */
const round = 26 * hour;

describe('the daily limit', { concurrent: true }, () => {
  test.for(
    [
      { dated: 'one answer 30 days ahead', wrong: () => Date.now() + 30 * day, isOnly: true },
      { dated: 'one answer in the year 2099', wrong: () => Date.UTC(2099, 0), isOnly: true },
      { dated: 'all answers in the year 2099', wrong: () => Date.UTC(2099, 0), isOnly: false },
      { dated: 'all answers in the year 1970', wrong: () => day, isOnly: false },
    ].map((each) => [each.dated, each] as const),
  )(
    'counts a payment for exactly one day if the service dates %s',
    async ([, { wrong, isOnly }], { strict }) => {
      const { service, run } = strict;
      const rounds = isOnly ? 7 : 1;
      await run('limits set --per-day 1500sat');
      for (let answer = 1; answer <= rounds + 1; answer += 1) {
        const now = (): number => Date.now() + answer * round;
        const dates = (isWrong: (count: number) => boolean): void => {
          let count = 0;
          service.temper.headers = () => ({
            date: new Date(isWrong((count += 1)) ? wrong() : now()).toUTCString(),
          });
        };
        // In each payment, a different answer of the service has the wrong date, for example the
        // last answer before the confirmation.
        dates((count) => answer <= rounds && (count === answer || !isOnly));
        expect(await run(`${lnurl('shop')} --ref day-${answer}`, 'home', { now })).toMatchObject({
          exitCode: 0,
        });
        dates(() => false);
        expect(await run(`${lnurl('shop')} --ref more-${answer}`, 'home', { now })).toMatchObject({
          exitCode: 7,
          stdout: '',
        });
      }
    },
  );
});

const services = [
  { dates: 'dates its answers', date: () => new Date().toUTCString() },
  { dates: 'does not date its answers', date: () => 'unknown' },
] as const;

describe.each(services.map((each) => [each.dates, each] as const))(
  'svcpay with a service that %s',
  { concurrent: true },
  (_dates, { date }) => {
    /** Pays once at each offset of the machine clock, and resolves with the exit codes. */
    async function payAt({ service, run }: Strict, offsets: readonly number[]): Promise<number[]> {
      service.temper.headers = () => ({ date: date() });
      await run('limits set --per-day 1500sat');
      const codes: number[] = [];
      for (const [at, offset] of offsets.entries()) {
        const now = (): number => Date.now() + offset;
        const paid = await run(`${lnurl('shop')} --ref payment-${at}`, 'home', { now });
        codes.push(paid.exitCode);
      }
      return codes;
    }

    test('does not reset the daily limit if the machine clock jumps ahead by years', async ({
      strict,
    }) => {
      expect(await payAt(strict, [0, 3 * year, 3 * year + hour])).toEqual([0, 7, 7]);
    });

    test('does not reset the daily limit if the machine clock is set back by years', async ({
      strict,
    }) => {
      expect(await payAt(strict, [0, -3 * year, -3 * year + hour])).toEqual([0, 7, 7]);
    });

    test('counts a payment for only one day even if the machine clock was years ahead when the payment was made', async ({
      strict,
    }) => {
      const { service } = strict;
      expect(await payAt(strict, [3 * year, 0])).toEqual([0, 7]);
      // The machine clock and the service clock are right again, 25 hours later.
      const now = (): number => Date.now() + 25 * hour;
      service.temper.headers = () =>
        date() === 'unknown' ? { date: 'unknown' } : { date: new Date(now()).toUTCString() };
      expect(await strict.run(`${lnurl('shop')} --ref tomorrow`, 'home', { now })).toMatchObject({
        exitCode: 0,
      });
    });

    test('resets the daily limit every day if the machine clock stays years behind', async ({
      strict,
    }) => {
      const { service, run } = strict;
      expect(await payAt(strict, [-3 * year, -3 * year])).toEqual([0, 7]);
      service.temper.headers = () =>
        date() === 'unknown'
          ? { date: 'unknown' }
          : { date: new Date(Date.now() + 25 * hour).toUTCString() };
      const now = (): number => Date.now() - 3 * year + 25 * hour;
      expect(await run(`${lnurl('shop')} --ref tomorrow`, 'home', { now })).toMatchObject({
        exitCode: 0,
      });
    });

    test('lists how much of the daily limit is used even if the machine clock is years ahead or behind', async ({
      strict,
    }) => {
      await payAt(strict, [0]);
      for (const offset of [3 * year, -3 * year]) {
        const now = (): number => Date.now() + offset;
        const shown = await strict.run('limits list --json', 'home', { now });
        expect(shown.json()).toMatchObject([{ rule: 'per day', ccy: 'BTC', used: 0.00001003 }]);
      }
    });
  },
);

test('svcpay does not reset the daily limit if the machine clock jumps ahead by days but the answers of the service have the right date', async ({
  strict,
}) => {
  const { service, run } = strict;
  await run('limits set --per-day 1500sat');
  expect(await run(`${lnurl('shop')} --ref first`)).toMatchObject({ exitCode: 0 });
  service.temper.headers = () => ({ date: new Date().toUTCString() });
  const now = (): number => Date.now() + 2 * day;
  expect(await run(`${lnurl('shop')} --ref second`, 'home', { now })).toMatchObject({
    exitCode: 7,
  });
});

const jumpingClock = pathToFileURL(join(import.meta.dirname, 'fixtures/jumping-clock.mjs')).href;

test('the built svcpay applies the daily limit according to the service clock if the machine clock is years off', async ({
  strict,
}) => {
  const { service, home } = strict;
  const at = (jumpMs: number, ref: string) =>
    svcpay([...lnurl('shop').split(' '), '--ref', ref], {
      home: home('home'),
      sandbox: service,
      env: {
        NODE_OPTIONS: `--import ${jumpingClock}`,
        CLOCK_JUMP_MS: String(jumpMs),
        CLOCK_JUMPS_AFTER_MS: '0',
      },
    });
  await svcpay(['limits', 'set', '--per-day', '1500sat'], { home: home('home'), sandbox: service });
  const codes = [await at(3 * year, 'one'), await at(-3 * year, 'two'), await at(0, 'three')].map(
    ({ exitCode }) => exitCode,
  );
  expect(codes).toEqual([0, 7, 7]);
});
