// The pages for payers: the hosted payment page, which reloads until the receive request has ended,
// LNURL-pay (LUD-06, LUD-16), and the OpenAPI description.
import { type Context, sha256Hex } from './world.js';
import { type Call, jsonAnswer, type Outgoing, pages, type Route } from './routing.js';
import { isPayable, payIncoming } from './kinds.js';
import { notFound, permissionDenied, type State, Refusal } from './wire.js';
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

const phases: Readonly<Partial<Record<State, Phase>>> = {
  quoted: 'unopened',
  srcintent: 'waiting',
  srccreated: 'waiting',
  completed: 'paid',
  expired: 'expired',
};

const phaseOf = ({ sourceMethod, state }: Transaction): Phase =>
  sourceMethod === 'on-chain' && state === 'srccreated' ? 'seen' : (phases[state] ?? 'closed');

/** Writes the payment page: one HTML document whose content policy forbids all external content. */
function showPage(call: Call): Outgoing {
  const txn = findPayable(call);
  if (txn === undefined) return lostPage();
  const { accountDisplayName: payee, sourceCcy: ccy, charge } = txn;
  const phase = phaseOf(txn);
  const [title, text] = messages[phase];
  return document(
    200,
    `Pay ${payee}`,
    `
<body class="${phase}">
<main>
  <header>
    <p class="payee">Pay <strong>${escapeHtml(payee)}</strong></p>
    <h1 class="amount">${escapeHtml(formatAmount({ ccy, value: charge }))}</h1>
    ${ccy === 'BTC' ? `<p class="sats">${escapeHtml(formatSats(charge))}</p>` : ''}
  </header>
  ${phase === 'waiting' ? requestPart(txn) : ''}
  <section class="status" role="status">
    ${phase === 'paid' ? tick : ''}<h2>${title}</h2><p>${text}</p>
  </section>
  ${phase === 'waiting' ? payPart(txn, call.ctx) : ''}
  <footer>
    <p>Sandbox: no real money moves.</p>
    <p class="id">${escapeHtml(txn.id)}</p>
  </footer>
</main>
</body>`,
    isLive(phase) ? `<meta http-equiv="refresh" content="${reloadSeconds}">` : '',
  );
}

/** The invoice or address that the payer scans or copies. */
function requestPart({ sourceMethod, sourceDetails: { reqDetails } }: Transaction): string {
  const { address, invoice, paymentRequest } = reqDetails;
  const isOnChain = sourceMethod === 'on-chain';
  const uri = isOnChain ? String(invoice) : `lightning:${String(paymentRequest)}`;
  const bitmap = encodeQr(uri, qrBorder);
  const link = `<a class="qr" href="${escapeHtml(uri)}" aria-label="Open in a wallet">`;
  return `<section class="request">
    ${bitmap === undefined ? '' : `${link}${svgOf(bitmap)}</a>`}
    <div class="code"><code>${escapeHtml(String(isOnChain ? address : paymentRequest))}</code></div>
  </section>`;
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
  if (isFromElsewhere(call)) throw permissionDenied();
  if (phaseOf(txn) === 'waiting') payIncoming(call.ctx, txn);
  return { status: 303, headers: { location: `/pay/${txn.id}` }, body: '' };
}

/**
 * Whether the browser reports that a form comes from another website. Only a form on the payment
 * page may trigger a payment.
 */
const isFromElsewhere = ({ incoming }: Call): boolean =>
  (incoming.headers['sec-fetch-site'] ?? 'same-origin') !== 'same-origin';

function findPayable({ ctx, param }: Call): Transaction | undefined {
  const txn = findTransaction(ctx.store, param('txnId'));
  return txn !== undefined && isPayable(txn) ? txn : undefined;
}

/**
 * The phase of a payment request. A request in phase `unopened` is unconfirmed, a request in phase
 * `seen` awaits blockchain confirmations, and a request in phase `closed` ended without a payment.
 */
type Phase = 'unopened' | 'waiting' | 'seen' | 'paid' | 'expired' | 'closed';

/** The width of the light border around the QR code, as the QR standard requires. */
const qrBorder = 4;

const reloadSeconds = 2;

const messages: Readonly<Record<Phase, readonly [title: string, text: string]>> = {
  unopened: ['Not open yet', 'This request is not confirmed yet. The page updates automatically.'],
  waiting: ['Waiting for the payment', 'Scan the code with a wallet, or copy the text below it.'],
  seen: [
    'Payment seen',
    'Awaiting confirmations on the blockchain. You do not have to do anything.',
  ],
  paid: ['Paid', 'The payment has arrived. You can close this page.'],
  expired: ['Expired', 'This request can no longer be paid. Ask for a new request.'],
  closed: ['Closed', 'This request was closed. Please do not pay it.'],
};

/** The phases in which the payment request can still change. */
const isLive = (phase: Phase): boolean => ['unopened', 'waiting', 'seen'].includes(phase);

const tick =
  '<svg class="tick" viewBox="0 0 48 48" aria-hidden="true"><circle cx="24" cy="24" r="22"/>' +
  '<path d="M14 25l7 7 13-15"/></svg>';

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
      'content-security-policy': policy(),
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    },
    body: `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="data:,">
${head}<style>${pageStyle}</style>
</head>${body}
</html>
`,
  };
}

/**
 * Returns the Content-Security-Policy, which allows only the page's own style, embedded images, and
 * forms that post to the service itself.
 */
function policy(): string {
  return [
    "default-src 'none'",
    `style-src '${hashOf(pageStyle)}'`,
    'img-src data:',
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ');
}

const hashOf = (text: string): string =>
  `sha256-${createHash('sha256').update(text).digest('base64')}`;

/** One card for light and dark screens, including narrow phones. */
const pageStyle = `
:root {
  color-scheme: light dark;
  --ground: #f3f4f1; --card: #fff; --ink: #1d2420; --soft: #5c675f; --line: #dfe3dd;
  --good: #1d7a4c; --accent: #1c5d99; --accent-ink: #fff;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #121513; --card: #1b201d; --ink: #e9eee9; --soft: #9aa69d; --line: #2e3631;
    --good: #5cc48d; --accent: #8fc1f0; --accent-ink: #0c1a27;
  }
}
* { box-sizing: border-box; margin: 0; }
body {
  min-height: 100vh; min-height: 100dvh; padding: 1rem;
  display: grid; grid-template-columns: minmax(0, 25rem); justify-content: center;
  align-items: center;
  background: var(--ground); color: var(--ink);
  font: 1rem/1.45 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif;
}
main {
  padding: 1.75rem clamp(1rem, 6vw, 2rem) 1.5rem; text-align: center;
  background: var(--card); border: 1px solid var(--line); border-radius: 1.25rem;
}
.payee, .sats, .status p, form p, footer p { color: var(--soft); }
.payee { overflow-wrap: anywhere; }
.payee strong { color: var(--ink); font-weight: 600; }
.amount {
  margin-top: .15rem; font-size: clamp(1.35rem, 7vw, 1.8rem); font-weight: 650; line-height: 1.2;
  font-variant-numeric: tabular-nums; letter-spacing: -.01em;
}
.sats { font-variant-numeric: tabular-nums; }
.request { margin-top: 1.25rem; }
.qr {
  display: block; margin: 0 auto; max-width: 18rem; border-radius: .75rem;
  overflow: hidden; background: #fff;
}
.qr svg { display: block; width: 100%; height: auto; }
@media (prefers-color-scheme: light) { .qr { border: 1px solid var(--line); } }
.code {
  margin-top: .9rem; padding: .5rem .75rem; border: 1px solid var(--line); border-radius: .75rem;
}
.code code {
  display: block; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; text-align: left;
  font: .85rem ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; color: var(--soft);
  -webkit-user-select: all; user-select: all;
}
.pay {
  width: 100%; margin-bottom: .6rem; padding: .7rem; border: 0; border-radius: .55rem;
  cursor: pointer;
  background: var(--accent); color: var(--accent-ink); font: inherit; font-weight: 600;
}
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.status { margin-top: 1.25rem; }
.status h2 { font-size: 1.05rem; font-weight: 600; }
.status p { font-size: .95rem; }
.paid h2 { color: var(--good); font-size: 1.3rem; }
.tick {
  width: 5rem; height: 5rem; margin: .25rem 0 .5rem; fill: none; stroke: var(--good);
  stroke-width: 2.5;
}
.tick path { stroke-width: 3.5; stroke-linecap: round; stroke-linejoin: round; }
.left { margin-top: .9rem; font-variant-numeric: tabular-nums; font-size: .95rem; }
form { margin-top: 1.1rem; font-size: .82rem; }
footer {
  margin-top: 1.4rem; padding-top: 1.1rem; border-top: 1px solid var(--line);
  font-size: .82rem;
}
footer .id { margin-top: .4rem; font-size: .75rem; overflow-wrap: anywhere; }
.expired .amount, .closed .amount { color: var(--soft); text-decoration: line-through; }
`;

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
