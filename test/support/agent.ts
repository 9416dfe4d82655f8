// An agent for tests: the protocol's own client, which starts `svcpay mcp` and checks every result
// against the tool's output schema.
import { Client, type Transport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { resolve } from 'node:path';
import { Ajv, type ValidateFunction } from 'ajv';
import { expect, onTestFinished } from 'vitest';
import { startOnStreams, svcpay, type Here } from './in-process.js';
import { environment, type Environment } from './svcpay.js';

export const eras = ['2025-11-25', '2026-07-28'] as const;
export type Era = (typeof eras)[number];

interface Content {
  readonly [name: string]: unknown;
  readonly error?: {
    kind: string;
    message: string;
    exitCode: number;
    txnId?: string;
    hint?: string;
    next: { tool: string; arguments: Record<string, string> }[];
  };
}

export interface Called {
  readonly content: Content;
  readonly isError: boolean;
  /** The text of the result, which a model reads. */
  readonly text: string;
}

export interface Agent {
  readonly client: Client;
  readonly call: (tool: string, given?: Record<string, unknown>) => Promise<Called>;
  /** Closes the connection early. A connection that is still open closes when the test ends. */
  readonly close: () => Promise<void>;
}

const program = resolve(import.meta.dirname, '../../bin/svcpay.js');

const figures = ['1btc', '10000usdt', '1000000000vnd'].flatMap((each) => ['--per-day', each]);

const made = new Map<string, Promise<unknown>>();

/** The command line of the server. A server that pays without a named budget gets a large one. */
async function serving(options: readonly string[], around: Here): Promise<readonly string[]> {
  const isGiven = options.includes('--budget');
  if (!options.includes('--allow-payments') || isGiven) return ['mcp', ...options];
  const make = made.get(around.home) ?? svcpay(['budget', 'add', 'agent', ...figures], around);
  made.set(around.home, make);
  expect(await make).toMatchObject({ exitCode: 0 });
  return ['mcp', ...options, '--budget', 'agent'];
}

/** Starts `svcpay mcp` in the process of the test. */
export async function startAgent(
  options: readonly string[],
  around: Here,
  era?: Era,
  agrees?: (message: string) => boolean,
): Promise<Agent> {
  const { input, output, ended } = startOnStreams(await serving(options, around), around);
  // Client and server both write lines of JSON, so the client can use the server's transport.
  const transport = new StdioServerTransport(output, input);
  const close = async (): Promise<void> => {
    input.end();
    await ended;
  };
  return agentOn(transport, era, close, agrees);
}

/** Starts `svcpay mcp` in a separate process. */
export async function startAgentProcess(
  options: readonly string[],
  around: Environment,
  era?: Era,
): Promise<Agent & { readonly pid: number | null }> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [program, ...(await serving(options, around))],
    env: environment(around),
    stderr: 'ignore',
  });
  return { ...(await agentOn(transport, era)), pid: transport.pid };
}

/**
 * Connects a client that uses the protocol version `era`. The connection closes when the test ends.
 */
async function agentOn(
  transport: Transport,
  era: Era = '2026-07-28',
  end?: () => Promise<void>,
  agrees?: (message: string) => boolean,
): Promise<Agent> {
  const mode = era === '2026-07-28' ? { pin: era } : 'legacy';
  const capabilities = agrees === undefined ? {} : { elicitation: {} };
  const client = new Client(
    { name: 'test', version: '1' },
    { capabilities, versionNegotiation: { mode } },
  );
  if (agrees !== undefined)
    client.setRequestHandler('elicitation/create', async ({ params }) => ({
      action: 'accept',
      content: { agree: agrees(params.message) },
    }));
  const close = async (): Promise<void> => {
    await client.close();
    await end?.();
  };
  onTestFinished(close);
  await client.connect(transport);
  // This client validates a result only if it has listed the tools before, and never validates an
  // error result. Older clients also validate error results, so `call` validates every result.
  const { tools } = await client.listTools();
  const ajv = new Ajv({ strict: false });
  const checks = new Map<string, ValidateFunction>();
  const checkOf = (name: string): ValidateFunction => {
    const schema = tools.find((tool) => tool.name === name)?.outputSchema ?? {};
    const check = checks.get(name) ?? ajv.compile(JSON.parse(JSON.stringify(schema)));
    checks.set(name, check);
    return check;
  };
  return {
    client,
    close,
    async call(name, given = {}) {
      const {
        structuredContent,
        content,
        isError = false,
      } = await client.callTool({ name, arguments: given });
      const check = checkOf(name);
      const errors = check(structuredContent) ? [] : check.errors;
      expect({ name, structuredContent, errors }).toMatchObject({ errors: [] });
      const texts = content.map((part) => (part.type === 'text' ? part.text : ''));
      const text = texts.join('\n');
      // The first text is the result as JSON, whose hints name commands for the person only.
      expect(texts.slice(1).join('\n')).not.toMatch(/svcpay [a-z]/);
      return {
        content: structuredContent === undefined ? {} : { ...structuredContent },
        isError,
        text,
      };
    },
  };
}
