// Each metrics page contains the store metrics, even while a database cannot be read.
import { expect, test } from 'vitest';
import { createMetrics, type MetricSources } from '../../src/webhooks/metrics.js';

const totals: ReturnType<MetricSources['totals']> = {
  received: 0,
  wrongSignatures: 0,
  refused: 0,
  unwritten: 0,
  duplicates: 0,
  outOfOrder: 0,
  exits: new Map(),
  consumers: [],
};

const waiting = (consumer: string, count: number, oldestSeconds: number, servedSeconds = 0) => ({
  consumer,
  count,
  oldest: 0,
  oldestSeconds,
  servedSeconds,
});

const sources: MetricSources = {
  totals: () => totals,
  backlog: async () => [
    waiting('app', 1, 5),
    waiting('exec jq -r .txnId', 1, 1),
    waiting('http://app:3000/hook?token=secret', 2, 7),
    waiting('http://app:3000/other/secret', 3, 4),
    waiting('http://former:3000/hook', 9, 99, 100_000),
  ],
  mayPay: () => Promise.resolve(),
  unfinished: async () => [
    { status: 'unattended', age: '1h', count: 2, oldest: 0, oldestSeconds: 3_000 },
    { status: 'unattended', age: '1m', count: 1, oldest: 0, oldestSeconds: 30 },
  ],
};

const linesOf = async (page: Promise<{ readonly body?: string }>): Promise<string[]> =>
  ((await page).body ?? '')
    .split('\n')
    .filter((line) => /^svcpay_(webhook_backlog|payments|database_up)/.test(line));

test('the metrics page shows payment statuses and the backlog of each consumer, but no paths of consumer URLs', async () => {
  expect(await linesOf(createMetrics().page(sources))).toEqual([
    'svcpay_webhook_backlog{consumer="app"} 1',
    'svcpay_webhook_backlog{consumer="exec"} 1',
    'svcpay_webhook_backlog{consumer="http://app:3000"} 5',
    'svcpay_webhook_backlog_oldest_seconds{consumer="app"} 5',
    'svcpay_webhook_backlog_oldest_seconds{consumer="exec"} 1',
    'svcpay_webhook_backlog_oldest_seconds{consumer="http://app:3000"} 7',
    'svcpay_payments{status="unattended",age="1h"} 2',
    'svcpay_payments{status="unattended",age="1m"} 1',
    'svcpay_payments_oldest_seconds{status="open"} 0',
    'svcpay_payments_oldest_seconds{status="in-flight"} 0',
    'svcpay_payments_oldest_seconds{status="unattended"} 3000',
    'svcpay_payments_oldest_seconds{status="unknown"} 0',
    'svcpay_payments_oldest_seconds{status="error"} 0',
    'svcpay_database_up 1',
    'svcpay_payments_refused 0',
  ]);
});

test('metrics page keeps the last values while the database cannot be read', async () => {
  const metrics = createMetrics();
  const before = await linesOf(metrics.page(sources));
  const unreadable = () => Promise.reject(new Error('the database is gone'));
  const after = await linesOf(metrics.page({ ...sources, unfinished: unreadable }));
  expect(after).toEqual(before.map((line) => line.replace('database_up 1', 'database_up 0')));
});
