// Sends money to the permanent Bitcoin address of the sandbox. The sandbox credits the deposit to
// the wallet, but lists no transaction for it.
import type { Sandbox } from '../../src/sandbox/server.js';
import { svcpay, type Here } from './in-process.js';

export async function deposit(
  around: Here & { readonly sandbox: Sandbox },
  amount: string,
): Promise<void> {
  const { stdout } = await svcpay(['receive', 'address', 'btc', '-q'], around);
  await around.sandbox.pay(stdout.trim(), amount);
  await around.sandbox.mine(6);
}
