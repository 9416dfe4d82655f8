// The Model Context Protocol as lines in and lines out: what is answered, what is refused, what is left unanswered.
import { describe, expect, test } from 'vitest';
import { readLines, type Line } from '../../../src/cli/agent/lines.js';
import { lineTransport } from '../../../src/cli/agent/line-transport.js';
import { serveMcp } from '../../../src/cli/agent/server.js';
import { defineTool, type Tool } from '../../../src/cli/agent/tool.js';
import { amount, choice, text } from '../../../src/cli/values.js';
import { Failure } from '../../../src/formats/failure.js';

interface Answer {
  readonly id: string | number | null;
  readonly result?: { structuredContent?: object; isError?: boolean; protocolVersion?: string; tools?: object[]; supportedVersions?: string[] };
  readonly error?: { code: number; message: string };
}

/** The tools of a server, and how it is spoken to; resolves when all is answered. */
async function serve(lines: readonly (string | object)[], tools: readonly Tool[] = all) {
  const answers: Answer[] = [];
  const reported: unknown[] = [];
  async function* input(): AsyncGenerator<string> {
    for (const line of lines) {
      yield `${typeof line === 'string' ? line : JSON.stringify({ jsonrpc: '2.0', ...line })}\n`;
      // Each message comes when the one before has been taken in.
      await new Promise(setImmediate);
    }
  }
  const transport = lineTransport(input(), (line) => answers.push(JSON.parse(line)));
  const { signal } = new AbortController();
  const server = serveMcp({ tools, version: '1.2.3', transport, report: (error) => reported.push(error), signal });
  await transport.ended;
  await server.close();
  return { answers, reported };
}

const tool = (name: string, run: (signal: AbortSignal) => Promise<object>): Tool =>
  defineTool({ name, title: name, description: name, effect: 'reads', arguments: {}, run: (_values, signal) => run(signal) });

const send = defineTool({
  name: 'send',
  title: 'Send',
  description: 'Sends.',
  effect: 'pays',
  arguments: {
    to: text().describe('whom'),
    amount: amount().optional().describe('how much'),
    way: choice(['slow', 'fast']).optional().describe('which way'),
  },
  async run({ to, amount }) {
    if (to === 'nobody') throw new Failure('not-found', 'There is nobody.', { hint: 'Look.' });
    if (to === 'later') throw new Failure('pending', 'It goes on.', { txnId: 't1' });
    return { to, amount };
  },
});
const all = [
  send,
  tool('break', () => Promise.reject(new Error('the password is 1234'))),
  tool('quick', async () => ({ quick: true })),
  tool('wait', (signal) => new Promise((resolve) => signal.addEventListener('abort', () => resolve({})))),
];

const client = { capabilities: {}, clientInfo: { name: 'test', version: '1' } };
const open = { id: 0, method: 'initialize', params: { protocolVersion: '2025-06-18', ...client } };
const call = (id: string | number, name: string, given: unknown = {}): object => ({ id, method: 'tools/call', params: { name, arguments: given } });

describe('messages', () => {
  test.for([
    ['what is not JSON', 'nonsense', -32_700],
    ['another version', { jsonrpc: '1.0', id: 1, method: 'ping' }, -32_600],
    ['an id that is no id', { id: { a: 1 }, method: 'ping' }, -32_600],
    ['parameters that are a list', { id: 1, method: 'ping', params: [1] }, -32_600],
    ['a line without end', `{"x":"${'a'.repeat(1024 * 1024)}"}`, -32_600],
  ] as const)('refuse %s and go on', async ([, message, code]) => {
    const { answers } = await serve([open, message, { id: 2, method: 'ping' }]);
    expect(answers[1]).toMatchObject({ id: null, error: { code } });
    expect(answers[2]).toMatchObject({ id: 2, result: {} });
  });

  test('tell the client nothing of what went wrong inside, and its owner all', async () => {
    const { answers, reported } = await serve([open, call(1, 'break')]);
    expect(answers[1]).toMatchObject({ id: 1, error: { code: -32_603, message: 'Something unexpected went wrong.' } });
    expect(reported).toMatchObject([{ message: 'the password is 1234' }]);
  });

  test('are answered when quick while a slow one is under way, and not when they were cancelled', async () => {
    const { answers } = await serve([
      open,
      call(1, 'wait'),
      call(2, 'quick'),
      call(1, 'quick'),
      { method: 'notifications/cancelled', params: { requestId: 1 } },
    ]);
    expect(answers.slice(1).map(({ id, error }) => [id, error?.message]).toSorted()).toEqual([[1, 'This id is in use.'], [2, undefined]]);
  });
});

describe('readLines', () => {
  test('puts lines together from any pieces, and characters from their bytes', async () => {
    const bytes = Buffer.from('{"a":"é"}\n\n  \nlast');
    async function* pieces(): AsyncGenerator<Uint8Array> {
      for (const byte of bytes) yield Uint8Array.of(byte);
    }
    const lines: Line[] = [];
    for await (const line of readLines(pieces(), 100)) lines.push(line);
    expect(lines).toEqual([{ text: '{"a":"é"}' }, { text: 'last' }]);
  });
});

async function called(given: unknown, name = 'send'): Promise<Answer | undefined> {
  const { answers } = await serve([open, call(1, name, given)]);
  return answers[1];
}

describe('the protocol', () => {
  test('is spoken as of old, after initialize', async () => {
    const { answers } = await serve([open, { method: 'notifications/initialized' }, { id: 1, method: 'tools/list' }, call(2, 'quick')]);
    expect(answers[0]?.result?.protocolVersion).toBe('2025-06-18');
    expect(answers[1]?.result?.tools).toHaveLength(all.length);
    expect(answers[2]?.result).toMatchObject({ structuredContent: { quick: true } });
  });

  test('is spoken as of late, where every request says who asks', async () => {
    const meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': client.clientInfo,
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    const { answers } = await serve([
      { id: 1, method: 'server/discover', params: { _meta: meta } },
      { id: 2, method: 'tools/list', params: { _meta: meta } },
      { id: 3, method: 'tools/call', params: { name: 'quick', arguments: {}, _meta: meta } },
    ]);
    expect(answers[0]?.result?.supportedVersions).toContain('2026-07-28');
    expect(answers[1]?.result?.tools).toHaveLength(all.length);
    expect(answers[2]?.result).toMatchObject({ structuredContent: { quick: true }, isError: false });
  });

  test('describes a tool so that a client can hold arguments against it', async () => {
    const { answers } = await serve([open, { id: 1, method: 'tools/list' }], [send]);
    expect(answers[1]?.result?.tools).toMatchObject([
      {
        name: 'send',
        inputSchema: {
          type: 'object',
          properties: { to: { type: 'string' }, way: { enum: ['slow', 'fast'] } },
          required: ['to'],
          additionalProperties: false,
        },
        annotations: { readOnlyHint: false, destructiveHint: true },
      },
    ]);
  });

  test('gives the result as text and as structure', async () => {
    const answer = await called({ to: 'a', amount: '1000sat' });
    expect(answer?.result).toMatchObject({ structuredContent: { to: 'a', amount: { ccy: 'BTC', value: 0.00001 } }, isError: false });
  });

  test.for([
    ['nothing', undefined, 'Missing: to.'],
    ['an argument that it does not know', { to: 'a', evil: 'x' }, 'It does not take evil.'],
    ['a name that every object has', { to: 'a', constructor: 'x' }, 'It does not take constructor.'],
    ['an object for a text', { to: { toString: 'x' } }, 'to must be text of at most 10000 characters.'],
    ['too long a text', { to: 'a'.repeat(10_001) }, 'to must be text of at most 10000 characters.'],
    ['an amount without a unit', { to: 'a', amount: 50_000 }, '50000 of what? Write 50000sat (0.0005 BTC) or 50000btc.'],
    ['another choice', { to: 'a', way: 'x' }, '"x" is not one of slow, fast.'],
  ] as const)('says what is wrong with %s as arguments', async ([, given, message]) => {
    const answer = await called(given);
    expect(answer?.result).toMatchObject({ isError: true, structuredContent: { error: { kind: 'usage', message } } });
  });

  test('hands on why a tool failed, and that a payment on its way did not', async () => {
    expect((await called({ to: 'nobody' }))?.result).toMatchObject({
      isError: true,
      structuredContent: { error: { kind: 'not-found', message: 'There is nobody.', hint: 'Look.' } },
    });
    expect((await called({ to: 'later' }))?.result).toMatchObject({
      isError: false,
      structuredContent: { outcome: 'pending', txnId: 't1' },
    });
  });

  test('refuses arguments that are no object, whatever the tool', async () => {
    expect((await called([]))?.error).toMatchObject({ code: -32_602 });
  });

  test('has no tool that is not on the list', async () => {
    expect((await called({}, 'pay'))?.error).toMatchObject({ code: -32_602 });
  });
});
