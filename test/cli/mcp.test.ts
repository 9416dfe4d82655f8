// The Model Context Protocol as lines in and lines out: what is answered, what is refused, what is left unanswered.
import { describe, expect, test } from 'vitest';
import { readLines, type Line } from '../../src/cli/agent/lines.js';
import { RpcError, serveRpc, type Method } from '../../src/cli/agent/rpc.js';
import { mcpMethods } from '../../src/cli/agent/server.js';
import { defineTool } from '../../src/cli/agent/tool.js';
import { amount, choice, text } from '../../src/cli/values.js';
import { Failure } from '../../src/formats/failure.js';

interface Answer {
  readonly id: string | number | null;
  readonly result?: { structuredContent?: object; isError?: boolean; protocolVersion?: string; tools?: object[] };
  readonly error?: { code: number; message: string };
}

async function serve(lines: readonly (string | object)[], methods: ReadonlyMap<string, Method>) {
  const answers: Answer[] = [];
  const reported: unknown[] = [];
  async function* input(): AsyncGenerator<string> {
    for (const line of lines) {
      yield `${typeof line === 'string' ? line : JSON.stringify({ jsonrpc: '2.0', ...line })}\n`;
      // Each message comes when the one before has been taken in.
      await new Promise(setImmediate);
    }
  }
  await serveRpc({
    input: input(),
    write: (line) => answers.push(JSON.parse(line)),
    methods,
    report: (error) => reported.push(error),
    signal: new AbortController().signal,
  });
  return { answers, reported };
}

const echo = new Map<string, Method>([
  ['echo', async (params) => ({ params })],
  ['fail', async () => Promise.reject(new RpcError('params', 'No.'))],
  ['break', async () => Promise.reject(new Error('the password is 1234'))],
  ['wait', (_params, signal) => new Promise((resolve) => signal.addEventListener('abort', () => resolve({})))],
]);

describe('serveRpc', () => {
  test.for([
    ['what is not JSON', 'nonsense', -32_700],
    ['another version', { jsonrpc: '1.0', id: 1, method: 'echo' }, -32_600],
    ['a batch', '[{"jsonrpc":"2.0","id":1,"method":"echo"}]', -32_600],
    ['an id that is no id', { id: { a: 1 }, method: 'echo' }, -32_600],
    ['parameters that are a list', { id: 1, method: 'echo', params: [1] }, -32_600],
    ['a line without end', `{"x":"${'a'.repeat(1024 * 1024)}"}`, -32_600],
  ] as const)('refuses %s and goes on', async ([, message, code]) => {
    const { answers } = await serve([message, { id: 2, method: 'echo' }], echo);
    expect(answers[0]).toMatchObject({ id: null, error: { code } });
    expect(answers[1]).toMatchObject({ id: 2, result: {} });
  });

  test('names the request that it refuses', async () => {
    const { answers } = await serve([{ id: 'a', method: 'nothing' }, { id: 7, method: 'fail' }], echo);
    expect(answers).toEqual([
      { jsonrpc: '2.0', id: 'a', error: { code: -32_601, message: 'There is no method nothing.' } },
      { jsonrpc: '2.0', id: 7, error: { code: -32_602, message: 'No.' } },
    ]);
  });

  test('tells the client nothing of what went wrong inside, and its owner all', async () => {
    const { answers, reported } = await serve([{ id: 1, method: 'break' }], echo);
    expect(answers).toMatchObject([{ id: 1, error: { code: -32_603, message: 'Something unexpected went wrong.' } }]);
    expect(reported).toMatchObject([{ message: 'the password is 1234' }]);
  });

  test('answers neither notifications nor answers', async () => {
    const messages = [{ method: 'notifications/initialized' }, { id: 1, result: {} }, { id: 1, error: { code: 1 } }, ''];
    expect((await serve(messages, echo)).answers).toEqual([]);
  });

  test('answers a quick request while a slow one is under way, and no request that was cancelled', async () => {
    const { answers } = await serve(
      [
        { id: 1, method: 'wait' },
        { id: 2, method: 'echo' },
        { id: 1, method: 'echo' },
        { method: 'notifications/cancelled', params: { requestId: 1 } },
      ],
      echo,
    );
    expect(answers.map(({ id, error }) => [id, error?.message])).toEqual([[2, undefined], [1, 'This id is in use.']]);
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

const methods = (): ReadonlyMap<string, Method> => mcpMethods([send], '1.2.3');
const open = { id: 0, method: 'initialize', params: { protocolVersion: '2025-06-18' } };

async function call(params: object): Promise<Answer | undefined> {
  const { answers } = await serve([open, { id: 1, method: 'tools/call', params }], methods());
  return answers[1];
}

describe('the protocol', () => {
  test.for([
    ['2025-06-18', '2025-06-18'],
    ['2024-11-05', '2024-11-05'],
    ['1999-01-01', '2025-11-25'],
  ] as const)('answers version %s with %s', async ([asked, spoken]) => {
    const { answers } = await serve([{ ...open, params: { protocolVersion: asked } }], methods());
    expect(answers[0]?.result?.protocolVersion).toBe(spoken);
  });

  test('begins with initialize', async () => {
    const { answers } = await serve([{ id: 1, method: 'tools/list' }, { id: 2, method: 'ping' }, open], methods());
    expect(answers.map(({ error }) => error?.code)).toEqual([-32_600, undefined, undefined]);
  });

  test('describes a tool so that a client can hold arguments against it', async () => {
    const { answers } = await serve([open, { id: 1, method: 'tools/list' }], methods());
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
    const answer = await call({ name: 'send', arguments: { to: 'a', amount: '1000sat' } });
    expect(answer?.result).toMatchObject({ structuredContent: { to: 'a', amount: { ccy: 'BTC', value: 0.00001 } }, isError: false });
  });

  test.for([
    ['nothing', undefined, 'Missing: to.'],
    ['a list', [], 'The arguments must be an object.'],
    ['an argument that it does not know', { to: 'a', evil: 'x' }, 'It does not take evil.'],
    ['a name that every object has', { to: 'a', constructor: 'x' }, 'It does not take constructor.'],
    ['an object for a text', { to: { toString: 'x' } }, 'to must be text of at most 10000 characters.'],
    ['too long a text', { to: 'a'.repeat(10_001) }, 'to must be text of at most 10000 characters.'],
    ['an amount without a unit', { to: 'a', amount: 50_000 }, '50000 of what? Write 50000sat (0.0005 BTC) or 50000btc.'],
    ['another choice', { to: 'a', way: 'x' }, '"x" is not one of slow, fast.'],
  ] as const)('says what is wrong with %s as arguments', async ([, given, message]) => {
    const answer = await call({ name: 'send', arguments: given });
    expect(answer?.result).toMatchObject({ isError: true, structuredContent: { error: { kind: 'usage', message } } });
  });

  test('hands on why a tool failed, and that a payment on its way did not', async () => {
    expect((await call({ name: 'send', arguments: { to: 'nobody' } }))?.result).toMatchObject({
      isError: true,
      structuredContent: { error: { kind: 'not-found', message: 'There is nobody.', hint: 'Look.' } },
    });
    expect((await call({ name: 'send', arguments: { to: 'later' } }))?.result).toMatchObject({
      isError: false,
      structuredContent: { outcome: 'pending', txnId: 't1' },
    });
  });

  test('has no tool that is not on the list', async () => {
    expect((await call({ name: 'pay', arguments: {} }))?.error).toMatchObject({ code: -32_602 });
  });
});
