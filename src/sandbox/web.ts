// The pages for payers: the hosted payment page, which reloads until the receive request has ended,
// LNURL-pay (LUD-06, LUD-16), and the OpenAPI description.
import { type Context, sha256Hex } from './world.js';
import { type Call, jsonAnswer, type Outgoing, pages, type Route } from './routing.js';
import { awaitsPayment, isPayable, payIncoming } from './kinds.js';
import { isFinal, notFound, permissionDenied, type State, Refusal } from './wire.js';
import { findTransaction, type Transaction } from './transactions.js';
import { createHash } from 'node:crypto';
import { formatAmount, formatSats, btcFromMsat } from '../formats/amount.js';
import { formatDuration } from '../formats/calendar.js';
import { escapeHtml } from '../formats/text.js';
import { encodeQr, svgOf } from '../formats/qr/qr-code.js';
import { findAccount, type Account } from './accounts.js';
import { invoicePayer, payPath } from './payments.js';
import { lnurlSendable } from './unspecified.js';
import description from './openapi.json' with { type: 'json' };

/** What the page says in each state of a payment request that no payer can pay now. */
const messages: Readonly<Partial<Record<State, readonly [title: string, text: string]>>> = {
  quoted: ['Not open yet', 'This request is not confirmed yet. The page updates automatically.'],
  srccreated: [
    'Payment seen',
    'Awaiting confirmations on the blockchain. You do not have to do anything.',
  ],
  completed: ['Paid', 'The payment has arrived. You can close this page.'],
  expired: ['Expired', 'This request can no longer be paid. Ask for a new request.'],
};
const closed = ['Closed', 'This request was closed. Please do not pay it.'] as const;
const waiting = [
  'Waiting for the payment',
  'Scan the code with a wallet, or copy the text below it.',
] as const;

/** Writes the payment page: one HTML document whose content policy forbids all external content. */
function showPage(call: Call): Outgoing {
  const txn = findPayable(call);
  if (txn === undefined) return lostPage();
  const { accountDisplayName: payee, sourceCcy: ccy, charge, state } = txn;
  const isWaiting = awaitsPayment(txn);
  const [title, text] = isWaiting ? waiting : (messages[state] ?? closed);
  return document(
    200,
    `Pay ${payee}`,
    `
<body class="${state}">
<main>
  <header>
    <p class="payee">Pay <strong>${escapeHtml(payee)}</strong></p>
    <h1 class="amount">${escapeHtml(formatAmount({ ccy, value: charge }))}</h1>
    ${ccy === 'BTC' ? `<p>${escapeHtml(formatSats(charge))}</p>` : ''}
  </header>
  ${isWaiting ? requestPart(txn) : ''}
  <section class="status" role="status"><h2>${title}</h2><p>${text}</p></section>
  ${isWaiting ? payPart(txn, call.ctx) : ''}
  <footer>
    <p>Sandbox: no real money moves.</p>
    <p>${escapeHtml(txn.id)}</p>
  </footer>
</main>
</body>`,
    isFinal(state) ? '' : `<meta http-equiv="refresh" content="${reloadSeconds}">`,
  );
}

/** The invoice or address that the payer scans or copies. */
function requestPart({ sourceMethod, sourceDetails: { reqDetails } }: Transaction): string {
  const { address, invoice, paymentRequest } = reqDetails;
  const isOnChain = sourceMethod === 'on-chain';
  const uri = isOnChain ? String(invoice) : `lightning:${String(paymentRequest)}`;
  const bitmap = encodeQr(uri, qrBorder);
  const link = `<a class="qr" href="${escapeHtml(uri)}" aria-label="Open in a wallet">`;
  return `${bitmap === undefined ? '' : `${link}${svgOf(bitmap)}</a>`}
  <div class="code"><code>${escapeHtml(String(isOnChain ? address : paymentRequest))}</code></div>`;
}

function payPart({ id, expiresAt }: Transaction, { now }: Context): string {
  // Rounds up to whole seconds, so that the page shows 0 s only at the expiry.
  const leftMs = Math.ceil((expiresAt - now) / 1000) * 1000;
  return `<p class="left">${formatDuration(leftMs)} left</p>
  <form method="post" action="/pay/${escapeHtml(id)}/pay">
    <button class="pay">Pay now</button>
    <p>“Pay now” pays as somebody else’s wallet would.</p>
  </form>`;
}

/**
 * Pays a payment request if the request is waiting, and always redirects to the page of the
 * request.
 */
function payNow(call: Call): Outgoing {
  const txn = findPayable(call);
  if (txn === undefined) throw notFound();
  // A browser reports whether a form comes from another website. Only a form on the payment page
  // may trigger a payment.
  if ((call.incoming.headers['sec-fetch-site'] ?? 'same-origin') !== 'same-origin')
    throw permissionDenied();
  if (awaitsPayment(txn)) payIncoming(call.ctx, txn);
  return { status: 303, headers: { location: `/pay/${txn.id}` }, body: '' };
}

function findPayable({ ctx, param }: Call): Transaction | undefined {
  const txn = findTransaction(ctx.store, param('txnId'));
  return txn !== undefined && isPayable(txn) ? txn : undefined;
}

/** The width of the light border around the QR code, as the QR standard requires. */
const qrBorder = 4;

const reloadSeconds = 2;

function lostPage(): Outgoing {
  return document(
    404,
    'No such request',
    `
<body>
<main><section class="status"><h2>No such request</h2>
<p>There is nothing to pay at this address. Check the link.</p></section></main>
</body>`,
  );
}

function document(status: number, title: string, body: string, head = ''): Outgoing {
  return {
    status,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': contentPolicy,
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    },
    body: `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="data:,">
${head}<style>${pageStyle}</style>
</head>${body}
</html>
`,
  };
}

/** One card in the browser's own colors for light and dark screens, including narrow phones. */
const pageStyle = `
:root { color-scheme: light dark; }
* { box-sizing: border-box; margin: 0; }
body {
  min-height: 100dvh; padding: 1rem;
  display: grid; grid-template-columns: minmax(0, 25rem); place-content: center;
  font: 1rem/1.45 system-ui, sans-serif; text-align: center;
}
main {
  display: grid; grid-template-columns: minmax(0, 1fr); gap: 1.25rem;
  padding: 1.75rem clamp(1rem, 6vw, 2rem);
  border: 1px solid GrayText; border-radius: 1.25rem;
}
p, code { color: light-dark(#5c675f, #9aa69d); overflow-wrap: anywhere; }
strong { color: CanvasText; }
.amount { font-size: clamp(1.35rem, 7vw, 1.8rem); }
.amount, .left { font-variant-numeric: tabular-nums; }
.expired .amount, .usercanceled .amount { color: GrayText; text-decoration: line-through; }
.qr { justify-self: center; width: 100%; max-width: 18rem; }
.qr svg { display: block; width: 100%; height: auto; }
.code code {
  display: block; overflow: hidden; text-overflow: ellipsis; white-space: nowrap;
  user-select: all;
}
.pay {
  width: 100%; margin-bottom: .6rem; padding: .7rem; border: 0; border-radius: .55rem;
  background: LinkText; color: Canvas; font: inherit; font-weight: 600;
}
.status h2 { font-size: 1.1rem; }
.completed h2 { color: light-dark(#1d7a4c, #5cc48d); }
.completed h2::before { content: "✓ "; }
form, footer { font-size: .82rem; }
`;

/**
 * Allows only the page's own style, embedded images, and forms that post to the service itself.
 */
const contentPolicy = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(pageStyle).digest('base64')}'`,
  'img-src data:',
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

/** Wraps an endpoint, so that it answers refusals in the error format of LUD-06. */
const guarded =
  (step: (call: Call, account: Account) => object) =>
  (call: Call): Outgoing => {
    const { store } = call.ctx;
    const account = findAccount(store, call.param('user').toLowerCase());
    if (account === undefined) return lnurlError(404, 'There is no such user.');
    try {
      return lnurlAnswer(
        200,
        store.attempt(() => step(call, account)),
      );
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const { body } = error;
      return lnurlError(error.status, ('message' in body && body.message) || body.error);
    }
  };

/** Allows any origin, for wallets that run in a browser. */
function lnurlAnswer(status: number, body: object): Outgoing {
  const answer = jsonAnswer(status, body);
  return { ...answer, headers: { ...answer.headers, 'access-control-allow-origin': '*' } };
}

const lnurlError = (status: number, reason: string): Outgoing =>
  lnurlAnswer(status, { status: 'ERROR', reason });

function showPayRequest({ ctx }: Call, account: Account): object {
  return {
    tag: 'payRequest',
    callback: `${ctx.baseUrl}${payPath}${account.id}/callback`,
    minSendable: lnurlSendable.min,
    maxSendable: lnurlSendable.max,
    metadata: metadataOf(ctx, account),
  };
}

function giveInvoice({ ctx, query }: Call, account: Account): object {
  const amountText = query.get('amount') ?? '';
  const { min, max } = lnurlSendable;
  const amount = /^\d{1,15}$/.test(amountText) ? Number(amountText) : Number.NaN;
  if (!(amount >= min && amount <= max)) {
    throw new Refusal(400, {
      error: `amount must be a whole number of millisatoshis from ${min} to ${max}`,
    });
  }
  const { sourceDetails } = invoicePayer(ctx, account, {
    amount: btcFromMsat(BigInt(amount)),
    description: { sha256: sha256Hex(Buffer.from(metadataOf(ctx, account))) },
  });
  return { pr: sourceDetails.reqDetails['paymentRequest'], routes: [] };
}

/**
 * The metadata text of an LNURL-pay user. The metadata text must not change, because invoices
 * contain the hash of the text.
 */
function metadataOf({ baseUrl }: Context, account: Account): string {
  return JSON.stringify([
    ['text/plain', `Payment to ${account.displayName}`],
    ['text/identifier', `${account.id}@${new URL(baseUrl).host}`],
  ]);
}

/** Serves the OpenAPI description, which build/openapi generates, with the service name. */
function showDescription({ ctx: { wireNames } }: Call): Outgoing {
  const answer = jsonAnswer(200, description);
  const { method } = wireNames;
  const capital = method.charAt(0).toUpperCase() + method.slice(1);
  const body = answer.body.replaceAll('servicepay', method).replaceAll('Servicepay', capital);
  return { ...answer, body };
}

export const webRoutes: readonly Route[] = pages({
  'GET /pay/:txnId': showPage,
  'POST /pay/:txnId/pay': payNow,
  [`GET ${payPath}:user`]: guarded(showPayRequest),
  [`GET ${payPath}:user/callback`]: guarded(giveInvoice),
  'GET /openapi.json': showDescription,
});
