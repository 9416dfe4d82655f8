// What `webhook listen` says on stderr while it runs: troubles in words, and never a line for each of a thousand.
import type { StoredEvent } from '../../store/events/event-store.js';
import type { Context } from '../context.js';
import { messageOf } from '../../formats/unknown.js';

const quietMs = 5_000;

export function listenReports(context: Context) {
  const { out, terminal } = context;
  const wrongSignature = calmly(context, (count) =>
    out.warn(count === 1 ? 'A delivery with a wrong signature was refused.' : `${count} more with a wrong signature were refused.`),
  );
  const lookUpFailed = calmly(context, (count) =>
    out.warn(count === 1 ? 'The service could not tell about a transaction.' : `It could not tell about ${count} more.`),
  );
  return {
    onWrongSignature: wrongSignature.note,
    onLookUpFailed: lookUpFailed.note,
    onUnwritten: (error: unknown): void =>
      out.warn(`An event could not be written, its sender is to try again: ${messageOf(error)}`),
    onTrouble: (consumer: string, reason: string | undefined): void =>
      out.say(reason === undefined ? `${consumer} takes events again.` : `${consumer}: ${reason}. Events wait and are tried again.`),
    onGivenUp: (consumer: string, { id }: StoredEvent, reason: string): void =>
      out.warn(`${consumer} failed for event #${id}: ${reason}.`),
    onOutput: (chunk: Buffer): void => void terminal.stderr.write(chunk),
    /** Says what was not said yet. */
    close(): void {
      wrongSignature.close();
      lookUpFailed.close();
    },
  };
}

/** Says the first at once, and the others together, every few seconds. */
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
