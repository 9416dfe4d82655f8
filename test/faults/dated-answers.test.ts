// Answers with a wrong date: the sums of a limit per day follow the times that the machine and other answers make plausible.
import { describe, expect } from 'vitest';
import { lnurl, test } from '../support/strict.js';

const day = 86_400_000;
/** From one round to the next, the payments of the round before leave the last day. */
const round = 26 * 3_600_000;

describe('a limit per day counts a payment for one day', { concurrent: true }, () => {
  test.for([
    { dated: 'one answer in 30 days', wrong: () => Date.now() + 30 * day, isOnly: true },
    { dated: 'one answer in 2099', wrong: () => Date.UTC(2099, 0), isOnly: true },
    { dated: 'all answers in 2099', wrong: () => Date.UTC(2099, 0), isOnly: false },
    { dated: 'all answers in 1970', wrong: () => day, isOnly: false },
  ])('if the service dates $dated', async ({ wrong, isOnly }, { strict }) => {
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
      // Each answer of a payment in turn, so that the last before its confirmation is among them.
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
  });
});
