// Tests `--account` with a subaccount for every command. With the parent's key, the service shows
// only the wallets and the account record of a subaccount. Every command that needs data other than
// the wallets and the account record refuses `--account` before it sends a request about the parent
// account.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test as plain } from 'vitest';
import type { Branch } from '../../src/cli/tree.js';
import { tree } from '../../src/cli/table.js';
import { svcpay, svcpayTty } from '../support/in-process.js';
import { payoutWords } from '../support/payout.js';
import { test } from '../support/svcpay.js';
import { webhookSecret } from '../support/webhooks.js';

/**
 * With `--account`, a command can exit 2 (`refused`), show the subaccount (`child`), print the same
 * for every account (`same`), or send no request (`local`).
 */
type Result = 'refused' | 'child' | 'same' | 'local';

const body = {
  sourceReq: { ccy: 'BTC', method: 'lightning' },
  destReq: { ccy: 'BTC', method: 'servicepay', amtRequested: 0.0001 },
};
const id = 'ad79a67a-5e07-4094-92cd-1aeb3fbe8297';
const address = 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8';
/**
 * Every command with valid arguments and its expected result. In a command, FILE stands for a batch
 * file with one row.
 */
const commands: Readonly<Record<string, readonly [Result, ...string[]]>> = {
  receive: ['refused'],
  'receive lightning': ['refused', '1000sat'],
  'receive onchain': ['refused', '0.001btc'],
  'receive address': ['refused', 'btc'],
  send: ['refused', address, '5usdt'],
  'send lightning': ['refused', 'INVOICE'],
  'send lnurl': ['refused', 'ann@example.com', '1000sat'],
  'send onchain': ['refused', 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx', '0.001btc'],
  'send usdt': ['refused', address, '5usdt'],
  swap: ['refused', '10usdt', 'BTC'],
  payout: ['refused', ...payoutWords().slice(1)],
  'payout methods': ['local'],
  'payout institutions': ['same', 'VN'],
  batch: ['refused', 'FILE'],
  'batch status': ['refused', 'FILE'],
  'batch receipts': ['refused', 'FILE', '--folder', 'advice'],
  again: ['refused'],
  'propose send': ['local', 'ann@example.com', '1000sat', '--max-total', '2000sat'],
  'propose swap': ['local', '10usdt', 'BTC', '--max-total', '11usdt'],
  'propose payout': ['local', ...payoutWords().slice(1), '--max-total', '30usdt'],
  'propose batch': ['local', 'FILE', '--max-total', '6usdt'],
  'propose status': ['local', id],
  proposals: ['refused'],
  'proposals show': ['refused', id],
  'proposals pay': ['refused', id],
  'proposals refuse': ['refused', id],
  'proposals watch': ['refused'],
  'contacts list': ['local'],
  'contacts show': ['local', 'ann'],
  'contacts add': ['local', 'ann'],
  'contacts remove': ['local', 'ann'],
  limits: ['local'],
  'limits list': ['local'],
  'limits set': ['local', '--per-day', '1000sat'],
  'limits allow': ['local', address],
  'limits disallow': ['local', address],
  'limits clear': ['local'],
  'budget list': ['refused'],
  'budget show': ['refused', 'agent'],
  'budget add': ['refused', 'agent', '--per-day', '1000sat'],
  'budget stop': ['refused', 'agent'],
  'budget start': ['refused', 'agent'],
  'budget remove': ['refused', 'agent'],
  'budget recipe': ['local', 'agent', '--for', 'ci'],
  'stop-all': ['refused'],
  wallets: ['child'],
  watch: ['local'],
  'tx list': ['refused'],
  'tx get': ['refused', id],
  'tx explain': ['local', id],
  'tx note': ['refused', id, 'a note'],
  'tx watch': ['refused', id],
  'tx confirm': ['refused', id],
  'tx cancel': ['refused', id],
  'tx pending': ['refused'],
  'tx resume': ['refused'],
  'tx resolve': ['refused', id],
  'tx export': ['refused', '--format', 'csv'],
  rates: ['same'],
  account: ['child'],
  login: ['local'],
  logout: ['local'],
  whoami: ['local'],
  'profiles list': ['local'],
  'profiles use': ['local', 'default'],
  'profiles remove': ['local', 'default'],
  'config list': ['local'],
  'config get': ['local', 'maker'],
  'config set': ['local', 'maker', 'service'],
  'config unset': ['local', 'maker'],
  'config path': ['local'],
  'db status': ['local'],
  'db upgrade': ['local'],
  'db move': ['local'],
  'db import': ['refused'],
  'db verify': ['local'],
  statement: ['refused'],
  'statement totals': ['refused'],
  'statement accounts init': ['refused'],
  'statement adjust': ['refused', '1sat'],
  'reconcile accept': ['refused', 'TXN', '--note=x'],
  'statement close': ['refused', '2026-01'],
  reconcile: ['refused'],
  fees: ['refused'],
  doctor: ['child'],
  completion: ['local', 'bash'],
  schema: ['local'],
  help: ['local'],
  decode: ['local', address],
  api: ['refused', 'POST', '/api/v2/transaction', '-d', JSON.stringify(body)],
  'webhook list': ['refused'],
  'webhook set': ['refused', 'https://shop.example/hooks'],
  'webhook update': ['refused', id, '--callback', 'https://shop.example/hooks'],
  'webhook remove': ['refused', id],
  'webhook listen': ['refused', '--port', '0', '--enrich'],
  'webhook verify': ['local', '--signature', 'aa'],
  'webhook sign': ['local'],
  'webhook replay': ['local', '--to', 'http://127.0.0.1:9/', id],
  'webhook trigger': ['local', 'completed'],
  'webhook consumers list': ['local'],
  'webhook consumers rename': ['local', 'a', 'b'],
  'webhook consumers remove': ['local', 'a'],
  mcp: ['refused'],
};

/** Commands that act on the sandbox itself, which has no account to choose. */
const ofTheSandbox = /^(sandbox |demo$)/;

const pathsOf = (
  branches: readonly Branch[],
  parent = '',
  counts: (branch: Branch) => boolean = ({ load }) => load !== undefined,
): string[] =>
  branches.flatMap((branch) => {
    const path = `${parent}${branch.name}`;
    return [
      ...(counts(branch) ? [path] : []),
      ...pathsOf(branch.branches ?? [], `${path} `, counts),
    ];
  });

/** Commands that, depending on their arguments, act for a subaccount or need no account. */
const byWords = ['api', 'webhook listen'];

describe('svcpay --account SUBACCOUNT', () => {
  plain('has a test case for every command except the sandbox commands', () => {
    expect(
      pathsOf(tree.branches ?? [])
        .filter((path) => !ofTheSandbox.test(path))
        .toSorted(),
    ).toEqual(Object.keys(commands).toSorted());
  });

  test.for(Object.entries(commands))(
    'does not read or change the parent account in "svcpay %s"',
    async ([path, [result, ...words]], { around }) => {
      const { sandbox, home } = around;
      const { accountId } = await sandbox.account('Child');
      const file = join(home, 'rows.csv');
      writeFileSync(file, `to,amount\n${address},5usdt\n`);
      const invoice = words.includes('INVOICE') ? await sandbox.invoice('1000sat') : '';
      const given = words.map((word) =>
        word === 'FILE' ? file : word === 'INVOICE' ? invoice : word,
      );
      const run = await svcpay(
        [...path.split(' '), ...given, '--account', accountId, '--yes', '--no-input'],
        {
          ...around,
          env: { SVCPAY_WEBHOOK_SECRET: webhookSecret },
          input: '',
        },
      );
      const asked = sandbox
        .requests()
        .filter(
          ({ path: asked, status }) =>
            status !== 401 && !/\/token-signature$|^\/_sandbox/.test(asked),
        );
      const ofChild = asked.filter(({ path: asked }) =>
        asked.startsWith(`/api/v2/account/${accountId}`),
      );
      const ofNobody = asked.filter(({ path: asked }) =>
        /\/(rate|fiat-institution\/.*)$/.test(asked),
      );
      expect(asked.filter((each) => ![...ofChild, ...ofNobody].includes(each))).toEqual([]);
      expect(asked.filter(({ method }) => method !== 'GET')).toEqual([]);
      if (result === 'refused') {
        expect(run).toMatchObject({ exitCode: 2, stdout: '' });
        expect(run.stderr).toContain(`acts for ${accountId} only with an API key of that account`);
      } else
        expect([ofChild.length > 0, ofNobody.length > 0]).toEqual([
          result === 'child',
          result === 'same',
        ]);
    },
  );

  plain('refuses the commands that the command table marks as ownAccount', () => {
    const refusing = Object.entries(commands)
      .filter(([path, [result]]) => result === 'refused' && !byWords.includes(path))
      .map(([path]) => path);
    expect(
      pathsOf(tree.branches ?? [], '', ({ ownAccount }) => ownAccount === true).toSorted(),
    ).toEqual(refusing.toSorted());
  });

  test.for(pathsOf(tree.branches ?? [], '', ({ ownAccount }) => ownAccount === true))(
    'refuses a subaccount in "svcpay %s" before it reports other mistakes',
    async (path, { around }) => {
      const { accountId } = await around.sandbox.account('Child');
      for (const words of [[], ['a', 'b', 'c', 'd', '--no-such-option']]) {
        const run = await svcpay(
          [...path.split(' '), ...words, '--account', accountId, '--no-input'],
          { ...around, input: '' },
        );
        expect(run).toMatchObject({ exitCode: 2, stdout: '' });
        expect(run.stderr).toContain(`acts for ${accountId} only with an API key of that account`);
      }
      expect(
        (
          await svcpay(
            [...path.split(' '), '--no-such-option', '--account', around.sandbox.accountId],
            around,
          )
        ).stderr,
      ).toContain('here is no option');
    },
  );

  test.for(['send', 'swap', 'payout', 'receive'])(
    'refuses a subaccount in "svcpay %s" at a terminal before the first question',
    async (path, { around }) => {
      const { accountId } = await around.sandbox.account('Child');
      const tty = svcpayTty([path, '--account', accountId], { ...around, columns: 200 });
      expect(await tty.ended).toBe(2);
      expect(tty.text()).toContain(`acts for ${accountId} only with an API key of that account`);
      expect(tty.text()).not.toContain('?');
    },
  );

  test("shows the subaccount's wallets and leaves the parent's webhook unchanged", async ({
    around,
  }) => {
    const { accountId } = await around.sandbox.account('Child');
    await around.sandbox.fund('BTC', '0.25', accountId);
    const env = { SVCPAY_WEBHOOK_SECRET: webhookSecret };
    await svcpay(['webhook', 'set', 'https://shop.example/hooks', '--yes'], { ...around, env });
    expect(
      await svcpay(['webhook', 'set', 'https://evil.example/', '--yes', '--account', accountId], {
        ...around,
        env,
      }),
    ).toMatchObject({ exitCode: 2 });
    expect((await svcpay(['webhook', 'list', '--json'], around)).json()).toMatchObject([
      { callback: 'https://shop.example/hooks' },
    ]);
    expect(
      (await svcpay(['wallets', 'BTC', '--json', '--account', accountId], around)).json(),
    ).toMatchObject([{ accountId, amount: 0.25 }]);
  });
});
