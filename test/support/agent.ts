// An agent as the protocol's own client: it starts `svcpay mcp` as a process, and holds every
// result against the tool's output schema.
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { resolve } from 'node:path';
import { Ajv, type ValidateFunction } from 'ajv';
import { expect, onTestFinished } from 'vitest';
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
  /** The text that a model reads. */
  readonly text: string;
}

export interface Agent {
  readonly client: Client;
  readonly pid: number | null;
  readonly call: (tool: string, given?: Record<string, unknown>) => Promise<Called>;
}

const program = resolve(import.meta.dirname, '../../bin/svcpay.js');

/** Starts the server and agrees on the era; both are over with the test. */
export async function startAgent(
  options: readonly string[],
  around: Environment,
  era: Era = '2026-07-28',
): Promise<Agent> {
  const mode = era === '2026-07-28' ? { pin: era } : 'legacy';
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [program, 'mcp', ...options],
    env: environment(around),
    stderr: 'ignore',
  });
  await client.connect(transport);
  onTestFinished(() => client.close());
  // The client checks results against the schemas that it has seen listed; clients of version 1
  // check errors as well.
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
    pid: transport.pid,
    async call(name, given = {}) {
      const {
        structuredContent,
        content,
        isError = false,
      } = await client.callTool({ name, arguments: given });
      const check = checkOf(name);
      const errors = check(structuredContent) ? [] : check.errors;
      expect({ name, structuredContent, errors }).toMatchObject({ errors: [] });
      const text = content.map((part) => (part.type === 'text' ? part.text : '')).join('\n');
      return {
        content: structuredContent === undefined ? {} : { ...structuredContent },
        isError,
        text,
      };
    },
  };
}
