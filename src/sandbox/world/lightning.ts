// Creates signed testnet invoices of the service's own Lightning node and of an external node, and
// records their payment. Resolves Lightning Addresses and LNURLs: each user of the service has
// both, and the sandbox simulates all users of other services.
import { getPublicKey } from '@noble/secp256k1';
import type Big from 'big.js';
import * as v from 'valibot';
import { msatOf } from '../../formats/amount.js';
import { encodeInvoice } from '../../formats/bolt11/encode.js';
import { type Context, randomHex, sha256Hex } from './context.js';
import { requireSetting, type Store, writeSetting } from '../storage/database.js';
import { decodeLnurl, parseLightningAddress } from '../../formats/destination.js';
import { findAccount } from './accounts.js';
import { badRequest, orRefuse } from '../wire/refusal.js';
import { unknownLnurlUser } from '../unspecified.js';

const invoiceRow = v.object({
  paymentHash: v.string(),
  invoice: v.string(),
  txnId: v.nullable(v.string()),
  expiresAt: v.number(),
  paidAt: v.nullable(v.number()),
});

type KnownInvoice = v.InferOutput<typeof invoiceRow>;

export interface InvoiceTerms {
  /** The amount of the invoice, in BTC. */
  readonly amount: Big;
  /** The description of the invoice, or the hash of the description. */
  readonly description: string | { readonly sha256: string };
  readonly expiryMs: number;
  /** The id of the receive request, or null for an invoice of the external node. */
  readonly txnId: string | null;
}

export function createInvoice(ctx: Context, terms: InvoiceTerms): KnownInvoice {
  const preimage = ctx.random(32);
  const timestamp = Math.floor(ctx.now / 1000);
  const expiry = Math.max(1, Math.floor(terms.expiryMs / 1000));
  const paymentHash = sha256Hex(preimage);
  const amountMsat = msatOf(terms.amount);
  const key = requireSetting(ctx.store, terms.txnId === null ? 'outsideNodeKey' : 'nodeKey');
  const invoice = encodeInvoice(
    {
      network: 'testnet',
      amountMsat,
      paymentHash,
      paymentSecret: randomHex(ctx.random, 32),
      ...(typeof terms.description === 'string'
        ? { description: terms.description }
        : { descriptionHash: terms.description.sha256 }),
      timestamp,
      expiry,
    },
    Buffer.from(key, 'hex'),
  );
  const expiresAt = (timestamp + expiry) * 1000;
  const made = { paymentHash, invoice, txnId: terms.txnId, expiresAt, paidAt: null };
  ctx.store.insert('invoice', {
    ...made,
    origin: terms.txnId === null ? 'outside' : 'own',
    preimage: Buffer.from(preimage).toString('hex'),
    amountMsat: String(amountMsat),
  });
  return made;
}

export function createNodes({ store, random }: Context): void {
  for (const [keyName, idName] of [
    ['nodeKey', 'nodeId'],
    ['outsideNodeKey', 'outsideNodeId'],
  ] as const) {
    const key = randomHex(random, 32);
    writeSetting(store, keyName, key);
    writeSetting(
      store,
      idName,
      Buffer.from(getPublicKey(Buffer.from(key, 'hex'), true)).toString('hex'),
    );
  }
}

/** Whether the public key (hex) belongs to the service's node or to the external node. */
export function isLocalNode(store: Store, nodeId: string): boolean {
  return (
    nodeId === requireSetting(store, 'nodeId') || nodeId === requireSetting(store, 'outsideNodeId')
  );
}

export function findInvoice(store: Store, paymentHash: string): KnownInvoice | undefined {
  return store.one(invoiceRow, 'SELECT * FROM invoice WHERE payment_hash = ?', paymentHash);
}

export function markPaid(ctx: Context, paymentHash: string): void {
  const changes = ctx.store.run(
    'UPDATE invoice SET paid_at = ? WHERE payment_hash = ? AND paid_at IS NULL',
    ctx.now,
    paymentHash,
  );
  if (changes !== 1) throw new Error(`Invoice ${paymentHash} does not exist or is already paid.`);
}

export function rememberPaid(
  ctx: Context,
  invoice: { paymentHash: string; invoice: string; amountMsat: string; expiresAt: number },
): void {
  ctx.store.insert('invoice', { ...invoice, origin: 'foreign', paidAt: ctx.now });
}

/** The path prefix of a user's LNURL-pay endpoint (LUD-16). */
export const payPath = '/.well-known/lnurlp/';

/**
 * Resolves a Lightning Address or LNURL. In the result, `account` is set if the recipient is a user
 * of this service. Throws a `Refusal` for an invalid text and for an unknown recipient.
 */
export function resolveLnurl(ctx: Context, text: string) {
  const { lnurlAddress, host, user } = text.includes('@')
    ? placeOfAddress(text)
    : placeOfLnurl(text);
  const isOwn = host === new URL(ctx.baseUrl).host;
  const account = isOwn ? findAccount(ctx.store, user) : undefined;
  if (user === unknownLnurlUser || (isOwn && account === undefined))
    throw badRequest('there is no such Lightning Address');
  return { lnurlAddress, user, account };
}

function placeOfAddress(text: string) {
  const { user, domain, address } = orRefuse(() => parseLightningAddress(text));
  return { lnurlAddress: address, host: domain, user };
}

function placeOfLnurl(text: string) {
  const url = new URL(orRefuse(() => decodeLnurl(text)));
  const user = url.pathname.replace(payPath, '').split('/').at(-1) ?? '';
  return { lnurlAddress: text.toUpperCase(), host: url.host, user };
}
