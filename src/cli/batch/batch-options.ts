// The options of a batch.
import { paymentOptions } from '../payment/payment-options.js';
import { choice, currency, duration, file, flag, text, whole, type ValuesOf } from '../values.js';

export const batchOptions = {
  dryRun: flag().describe('check every row, show the totals, send nothing'),
  concurrency: whole(1, 64).otherwise(4).describe('pay this many rows at a time (default 4)'),
  onError: choice(['continue', 'stop']).otherwise('continue').describe('after a failed row, continue or stop (default continue)'),
  result: file().optional().describe('write the outcome of every row to this file (default FILE.result.csv; none for -)'),
  name: text('NAME').otherwise('').describe('name of the batch; the same rows under another name are paid again'),
  from: currency().optional().describe('wallet to pay from if the row has none (default BTC; to TRON USDT)'),
  maxFee: paymentOptions.maxFee.describe('highest fee per row, e.g. 100sat or 1%'),
  maxRateLoss: paymentOptions.maxRateLoss,
  wait: paymentOptions.wait.describe('wait until every row is settled (default: only for Lightning)'),
  waitTimeout: duration().otherwise(120_000).describe('longest wait for a row to settle (default 2m)'),
  retry: paymentOptions.retry.describe('retry rows whose payment failed'),
};

export type BatchFlags = ValuesOf<typeof batchOptions>;
