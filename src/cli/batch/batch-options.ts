// The options of a batch.
import { paymentOptions } from '../payment/payment-options.js';
import { choice, currency, duration, file, flag, text, whole, type ValuesOf } from '../values.js';

export const batchOptions = {
  dryRun: flag().describe('check every row, show the totals, send nothing'),
  concurrency: whole(1, 64).otherwise(4).describe('how many rows are paid at a time (default 4)'),
  onError: choice(['continue', 'stop']).otherwise('continue').describe('after a row that failed (default continue)'),
  result: file().optional().describe('where the outcome of every row is kept (default FILE.result.csv; with - none)'),
  name: text('NAME').otherwise('').describe('tells this batch from others whose rows without a ref are the same'),
  from: currency().optional().describe('wallet to pay from, for rows that do not say (default BTC; to TRON USDT)'),
  maxFee: paymentOptions.maxFee.describe('highest fee of each row, as in 100sat or 1%'),
  maxRateLoss: paymentOptions.maxRateLoss,
  wait: paymentOptions.wait.describe('wait until every row is settled; otherwise only for Lightning'),
  waitTimeout: duration().otherwise(120_000).describe('longest wait for a row to settle (default 2m)'),
  retry: paymentOptions.retry.describe('try rows again whose payment failed'),
};

export type BatchFlags = ValuesOf<typeof batchOptions>;
