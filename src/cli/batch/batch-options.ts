// The options of svcpay batch, and the command that runs a batch again.
import Big from 'big.js';
import { Failure } from '../../formats/failure.js';
import { clip } from '../../formats/text.js';
import type { Command } from '../../terminal/next-step.js';
import { paymentOptions } from '../payment/payment-options.js';
import {
  choice,
  currency,
  duration,
  file,
  flag,
  literal,
  text,
  whole,
  type ValuesOf,
} from '../values.js';

function parseFactor(text: string): Big {
  if (/^\d{1,6}(?:\.\d{1,6})?$/.test(text) && new Big(text).gte(1)) return new Big(text);
  throw new Failure('usage', `"${clip(text)}" is not a factor. Write a number such as 1.5 or 2.`);
}

export const batchOptions = {
  dryRun: flag().describe('check every row and show payees, costs and changes, but send nothing'),
  ignoreColumns: flag().describe('ignore unknown columns'),
  acceptChanges: flag().describe(
    'with --yes, also pay new payees, changed accounts, duplicate rows and a repeated run',
  ),
  factor: literal('NUMBER', parseFactor)
    .otherwise(new Big('1.5'))
    .describe(
      "report amounts that differ from the payee's last amount by more than this factor " +
        '(default 1.5)',
    ),
  concurrency: whole(1, 64).otherwise(4).describe('pay this many rows at a time (default 4)'),
  onError: choice(['continue', 'stop'])
    .otherwise('continue')
    .describe('after a failed row, continue or stop (default continue)'),
  result: file()
    .optional()
    .describe('write the outcome of every row to this file (default FILE.result.csv; none for -)'),
  name: text('NAME')
    .otherwise('')
    .describe('name of the run; the same rows under another name are paid again'),
  from: currency()
    .optional()
    .describe('wallet to pay from if the row has none (default BTC, or USDT for TRON)'),
  maxFee: paymentOptions.maxFee.describe('highest fee per row, e.g. 100sat or 1%'),
  maxRateLoss: paymentOptions.maxRateLoss,
  wait: paymentOptions.wait.describe(
    'wait until every row is settled (default: only for Lightning)',
  ),
  waitTimeout: duration()
    .otherwise(120_000)
    .describe('longest wait for a row to settle (default 2m)'),
  retry: paymentOptions.retry.describe(
    'retry rows whose payment failed or has an unknown outcome; ' +
      'a row is paid twice if its earlier payment settles after all',
  ),
};

export type BatchFlags = ValuesOf<typeof batchOptions>;

/** The options that decide what the rows of a batch are, and the terms on which they are paid. */
export type RerunFlags = Pick<BatchFlags, 'name' | 'from' | 'ignoreColumns'> &
  Partial<Pick<BatchFlags, 'maxFee' | 'maxRateLoss' | 'result'>>;

/**
 * The command that runs a batch again, with its rows, terms and result file. Without the name of
 * the run, svcpay would pay the rows as another run.
 */
export const batchCommand = (
  file: string,
  { name, from, ignoreColumns, maxFee, maxRateLoss, result }: RerunFlags,
  more: Command['options'] = {},
): Command => ({
  command: 'batch',
  argument: file,
  options: {
    '--name': name === '' ? undefined : name,
    '--from': from,
    '--ignore-columns': ignoreColumns ? true : undefined,
    '--max-fee': maxFee?.written,
    '--max-rate-loss': maxRateLoss === undefined ? undefined : `${maxRateLoss}%`,
    '--result': result,
    ...more,
  },
});
