// svcpay pays an invoice once, even if the payment is repeated with another hostname, reference,
// home or command.
import { writeFileSync } from 'node:fs';
import { describe, expect } from 'vitest';
import { test, type Strict } from '../support/strict.js';

const batch = ({ home }: Strict, name: string, invoice: string): string => {
  const file = `${home('')}${name}.csv`;
  writeFileSync(file, `to\n${invoice}\n`);
  return `batch ${file} --yes --json`;
};
const send = (invoice: string, ref = ''): string =>
  `send lightning ${invoice} --yes --json${ref && ` --ref ${ref}`}`;

/**
 * Pairs of commands that pay one invoice; the second command must find the payment of the first
 * command.
 */
const ways: readonly {
  what: string;
  first: (invoice: string, strict: Strict) => Promise<unknown>;
  second: (invoice: string, strict: Strict) => Promise<unknown>;
}[] = [
  {
    what: 'without references, from two homes',
    first: (invoice, { run }) => run(send(invoice)),
    second: (invoice, { run }) => run(send(invoice), 'elsewhere'),
  },
  {
    what: 'without a reference, after a payment with a reference',
    first: (invoice, { run }) => run(send(invoice, 'a')),
    second: (invoice, { run }) => run(send(invoice)),
  },
  {
    what: 'under two references, from one home',
    first: (invoice, { run }) => run(send(invoice, 'b')),
    second: (invoice, { run }) => run(send(invoice, 'c')),
  },
  {
    what: 'under another hostname of the service',
    first: (invoice, { run }) => run(send(invoice)),
    second: (invoice, strict) =>
      strict.run(send(invoice), 'home', {
        sandbox: { ...strict.service, url: strict.service.url.replace('127.0.0.1', 'localhost') },
      }),
  },
  {
    what: 'with --account, after a payment without --account',
    first: (invoice, { run }) => run(send(invoice)),
    second: (invoice, { run, service }) => run(`${send(invoice)} --account ${service.accountId}`),
  },
  {
    what: 'in a batch, after a single payment',
    first: (invoice, { run }) => run(send(invoice)),
    second: (invoice, strict) => strict.run(batch(strict, 'after', invoice)),
  },
  {
    what: 'alone from another home, after a batch',
    first: (invoice, strict) => strict.run(batch(strict, 'before', invoice)),
    second: (invoice, { run }) => run(send(invoice), 'elsewhere'),
  },
];

describe('svcpay', { concurrent: true }, () => {
  test('pays an invoice once if another command, reference or home repeats the payment', async ({
    strict,
  }) => {
    const { service } = strict;
    const tried: { what: string; paid: number }[] = [];
    for (const { what, first, second } of ways) {
      const invoice = service.invoice(1000n);
      await first(invoice, strict);
      await second(invoice, strict);
      const paid = service.moved().filter(({ dest }) => JSON.stringify(dest).includes(invoice));
      tried.push({ what, paid: paid.length });
    }
    expect(tried).toEqual(ways.map(({ what }) => ({ what, paid: 1 })));
  });

  test('pays an invoice once if three homes send it and the service refuses a used reference', async ({
    strict,
  }) => {
    const { service, run } = strict;
    Object.assign(service.temper, { createRequestsTogether: 3 });
    const invoice = service.invoice(1000n);
    const ends = await Promise.all(
      ['a', 'b', 'c'].map((at) => run(`${send(invoice)} --timeout 10s`, at)),
    );
    expect(ends.map(({ exitCode }) => exitCode).every((code) => [0, 2, 8].includes(code))).toBe(
      true,
    );
    expect(ends.some(({ exitCode }) => exitCode === 0)).toBe(true);
    expect(service.moved()).toHaveLength(1);
  });
});
