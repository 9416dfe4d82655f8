// Prints the reports of `webhook listen` on stderr, and combines frequent reports.
import type { StoredEvent } from '../../store/events/event-store.js';
import type { Context } from '../context.js';
import { counted, messageOf } from '../../formats/text.js';
import type { Answer } from '../../webhooks/listen.js';

const quietMs = 5_000;

/**
 * Creates the reports of `webhook listen`.
 * @param onAnswer draws the target's answer to a forwarded event
 */
export function listenReports(context: Context, onAnswer: (answer: Answer) => void) {
  const { out, terminal } = context;
  const wrongSignature = calmly(context, (count) =>
    out.warn(
      count === 1
        ? 'svcpay refused a delivery with a wrong signature.'
        : `svcpay refused ${count} more deliveries with a wrong signature.`,
    ),
  );
  const lookUpFailed = calmly(context, (count) =>
    out.warn(
      count === 1
        ? 'svcpay could not read a transaction from the service.'
        : `svcpay could not read ${count} more transactions from the service.`,
    ),
  );
  return {
    onWrongSignature: wrongSignature.note,
    onLookUpFailed: lookUpFailed.note,
    onUnwritten: (error: unknown): void =>
      out.warn(`svcpay could not store an event and answered with 503: ${messageOf(error)}`),
    onUnpruned: (error: unknown): void =>
      out.warn(
        `svcpay could not delete old events and will try again in an hour: ${messageOf(error)}`,
      ),
    onForgotten: (consumer: string, events: number): void =>
      out.warn(
        `svcpay dropped ${counted(events, 'waiting event')} of ${consumer}, ` +
          'because no receiver has served this consumer for 30 days.',
      ),
    onUnsearched: (error: unknown): [] => {
      out.warn(
        'svcpay could not search the inbox for transactions that changed while no receiver was ' +
          `running: ${messageOf(error)}`,
      );
      return [];
    },
    onTrouble: (consumer: string, reason: string | undefined): void =>
      reason === undefined
        ? out.say(`${consumer} accepts events again.`)
        : out.warn(`${consumer}: ${reason}. svcpay keeps the events and tries again.`),
    onFailed: (consumer: string, { id, txnId }: StoredEvent, reason: string): void =>
      out.warn(`${consumer} failed for event #${id}: ${reason}.`, txnId === null ? {} : { txnId }),
    onAnswer,
    onOutput: (chunk: Buffer): void => void terminal.stderr.write(chunk),
    close(): void {
      wrongSignature.close();
      lookUpFailed.close();
    },
  };
}

/**
 * Creates a report of a frequent event, which reports the first occurrence at once, and the number
 * of later occurrences every few seconds.
 */
function calmly({ every }: Context, say: (count: number) => void) {
  let count = 0;
  let stop: (() => void) | undefined;
  const flush = (): void => {
    if (count > 0) say(Math.max(count, 2));
    else {
      stop?.();
      stop = undefined;
    }
    count = 0;
  };
  return {
    note(): void {
      if (stop === undefined) {
        say(1);
        stop = every(quietMs, flush);
      } else count += 1;
    },
    close(): void {
      if (count > 0) flush();
      stop?.();
    },
  };
}
