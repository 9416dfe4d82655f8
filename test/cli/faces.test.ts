// A command is one declaration: the same inputs, value and view appear on the command line, in
// help, completion, the manual and the schema, and to agents.
import { readFileSync } from 'node:fs';
import { describe, expect } from 'vitest';
import { manualPage } from '../../build/manual-page.js';
import { complete } from '../../src/complete.js';
import type { Branch } from '../../src/cli/tree.js';
import { pagesOf } from '../../src/cli/help/help.js';
import { mcp } from '../../src/cli/mcp/mcp.js';
import type { ToolRow } from '../../src/cli/mcp/tools.js';
import { wholeSchema } from '../../src/cli/schema/schema.js';
import { startAgent } from '../support/agent.js';
import { svcpay } from '../support/in-process.js';
import { test } from '../support/svcpay.js';
import { holidays } from './fixtures/holidays.js';

const tool: ToolRow = {
  name: 'holidays',
  title: 'Holidays',
  command: 'holidays',
  effect: 'reads',
  takes: { country: 'two-letter code', within: '' },
  needs: ['country'],
  about: 'The days on which the banks of a country are closed.',
};

const commands: Branch = {
  name: 'svcpay',
  summary: 'A wallet.',
  branches: [
    {
      name: 'holidays',
      summary: 'list bank holidays',
      section: 'Look',
      load: async () => holidays,
    },
    { name: 'mcp', summary: 'serve agents', load: async () => mcp(commands, [tool]) },
  ],
};

const now = (): number => Date.parse('2026-11-24T00:00:00Z');
const newYear = { date: '2027-01-01', name: "New Year's Day", inDays: 38 };

describe('a command with a list of rows', () => {
  test('is one file of at most 60 lines', () => {
    const file = new URL('fixtures/holidays.ts', import.meta.url);
    expect(readFileSync(file, 'utf8').split('\n').length).toBeLessThanOrEqual(60);
  });

  test('is a typed function that returns a value', async () => {
    const found = await holidays.run({ country: 'VN', within: 90 }, { now });
    expect(found).toEqual([newYear]);
  });

  test('prints its value in every format, with --fields and -q', async ({ home }) => {
    const printed = async (...words: string[]): Promise<string> =>
      (await svcpay(['holidays', 'vn', ...words], { home, now, commands })).stdout;
    const all = ['2026-09-02', '2027-01-01'];
    expect(JSON.parse(await printed('--within', '90', '--json'))).toEqual([newYear]);
    expect(await printed('-q')).toBe(`${all.join('\n')}\n`);
    expect(await printed('-o', 'csv', '--fields', 'inDays')).toBe('inDays\n-83\n38\n');
    expect(await printed('-o', 'table')).toContain('38 days');
    const wrong = await svcpay(['holidays', 'VN', '--fields', 'day'], { home, now, commands });
    expect(wrong.exitCode).toBe(2);
    expect(wrong.stderr).toContain('Its fields are date, name, inDays');
  });

  test('appears in help, the manual, completion and the schema', async ({ home }) => {
    const help = await svcpay(['holidays', '--help'], { home, commands });
    expect(help.stdout).toContain('only the coming days, e.g. 90');
    expect(help.stdout).toContain('svcpay holidays VN --within 90');
    const pages = await pagesOf(commands);
    expect(manualPage(pages)).toContain('lists the holidays of the next 90 days');
    const offered = complete(['holidays', 'VN', '--fields', ''], pages, () => []);
    expect(offered).toEqual(['date', 'name', 'inDays'].map((name) => ({ text: name })));
    const { commands: described } = await wholeSchema(commands, '0.1.0');
    expect(described.find(({ command }) => command === 'holidays')).toMatchObject({
      arguments: [{ name: 'country', required: true }],
      options: { within: { flag: '--within', type: 'integer', minimum: 1, maximum: 1000 } },
      fields: ['date', 'name', 'inDays'],
    });
  });

  test('serves agents with one row in the table of tools', async ({ home }) => {
    const agent = await startAgent([], { home, now, commands });
    const { tools } = await agent.client.listTools();
    expect(tools.map(({ inputSchema }) => inputSchema)).toMatchObject([
      {
        properties: {
          country: { type: 'string', description: 'two-letter code' },
          within: { type: 'integer', minimum: 1, maximum: 1000 },
        },
        required: ['country'],
      },
    ]);
    const { content } = await agent.call('holidays', { country: 'VN', within: 90 });
    expect(content).toEqual({ holidays: [newYear] });
    const { content: refused } = await agent.call('holidays', { country: 'Atlantis' });
    expect(refused.error).toMatchObject({ kind: 'usage', exitCode: 2 });
  });
});
