// Writes every line on stderr as one JSON object with `--log-format json`, for programs that
// collect logs.
import { Writable } from 'node:stream';
import type { LogFacts } from '../api/types.js';
import { toJson } from './rows/json.js';
import { isLog, type LogStream, type OutputStream } from './terminal.js';

/**
 * Creates a stream of log lines.
 * @param now the machine's clock, epoch ms
 * @param run identifies this run of the command on each line
 */
export function jsonLog(stderr: OutputStream, now: () => number, run: string): LogStream {
  if (isLog(stderr)) return stderr;
  let runFacts: LogFacts = {};
  let isOne = true;
  let unfinished = '';

  const entry: LogStream['entry'] = (level, message, { error, ...facts } = {}) => {
    const {
      reference = null,
      txnId = null,
      requestId = null,
    } = { ...(isOne ? runFacts : {}), ...facts };
    const time = new Date(now()).toISOString();
    const entry = { time, level, run, reference, txnId, requestId, message, error };
    stderr.write(`${toJson(entry)}\n`);
  };
  const stream = new Writable({
    decodeStrings: false,
    write(chunk: string | Buffer, _encoding, done) {
      const lines = (unfinished + chunk.toString()).split('\n');
      unfinished = lines.pop() ?? '';
      for (const line of lines) if (line.trim() !== '') entry('info', line.trim());
      done();
    },
  });
  return Object.assign(stream, {
    entry,
    note(facts: LogFacts): void {
      // With several concurrent payments, svcpay cannot attribute a log line to one payment.
      isOne &&= isSame(runFacts, facts);
      runFacts = { ...runFacts, ...facts };
    },
  });
}

function isSame(one: LogFacts, other: LogFacts): boolean {
  if (one.reference !== undefined && other.reference !== undefined)
    return one.reference === other.reference;
  return one.txnId === undefined || other.txnId === undefined || one.txnId === other.txnId;
}
