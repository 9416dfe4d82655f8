// Writes the payment page: one HTML document whose content policy forbids all external content.
import { createHash } from 'node:crypto';
import type Big from 'big.js';
import { formatAmount, formatSats } from '../../formats/amount.js';
import { formatDuration } from '../../formats/duration.js';
import { escapeHtml } from '../../formats/text.js';
import { encodeQr, svgOf } from '../../formats/qr/qr-code.js';
import type { Outgoing } from '../http/routing.js';
import { pageStyle } from './page-style.js';

/**
 * The phase of a payment request. A request in phase `unopened` is unconfirmed, a request in phase
 * `seen` awaits blockchain confirmations, and a request in phase `closed` ended without a payment.
 */
export type Phase = 'unopened' | 'waiting' | 'seen' | 'paid' | 'expired' | 'closed';

export interface PaymentPage {
  readonly phase: Phase;
  /** Milliseconds until the request expires, by the service's clock. */
  readonly leftMs: number;
  readonly payee: string;
  readonly ccy: string;
  readonly amount: Big;
  readonly txnId: string;
  /**
   * The invoice or address that the payer pays, or undefined until the transaction is confirmed.
   */
  readonly request?: { readonly uri: string; readonly shown: string } | undefined;
}

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

export function paymentPage(page: PaymentPage): Outgoing {
  const { phase, payee, ccy, amount } = page;
  const [title, text] = messages[phase];
  return document(
    200,
    `Pay ${payee}`,
    `
<body class="${phase}">
<main>
  <header>
    <p class="payee">Pay <strong>${escapeHtml(payee)}</strong></p>
    <h1 class="amount">${escapeHtml(formatAmount({ ccy, value: amount }))}</h1>
    ${ccy === 'BTC' ? `<p class="sats">${escapeHtml(formatSats(amount))}</p>` : ''}
  </header>
  ${phase === 'waiting' ? requestPart(page) : ''}
  <section class="status" role="status">
    ${phase === 'paid' ? tick : ''}<h2>${title}</h2><p>${text}</p>
  </section>
  ${phase === 'waiting' ? payPart(page) : ''}
  <footer>
    <p>Sandbox: no real money moves.</p>
    <p class="id">${escapeHtml(page.txnId)}</p>
  </footer>
</main>
</body>`,
    isLive(phase) ? `<meta http-equiv="refresh" content="${reloadSeconds}">` : '',
  );
}

function requestPart({ request }: PaymentPage): string {
  if (request === undefined) return '';
  const bitmap = encodeQr(request.uri, qrBorder);
  const link = `<a class="qr" href="${escapeHtml(request.uri)}" aria-label="Open in a wallet">`;
  return `<section class="request">
    ${bitmap === undefined ? '' : `${link}${svgOf(bitmap)}</a>`}
    <div class="code"><code>${escapeHtml(request.shown)}</code></div>
  </section>`;
}

function payPart({ txnId, leftMs }: PaymentPage): string {
  return `<p class="left">${formatDuration(leftMs)} left</p>
  <form method="post" action="/pay/${escapeHtml(txnId)}/pay">
    <button class="pay">Pay now</button>
    <p>“Pay now” pays as somebody else’s wallet would.</p>
  </form>`;
}

const tick =
  '<svg class="tick" viewBox="0 0 48 48" aria-hidden="true"><circle cx="24" cy="24" r="22"/>' +
  '<path d="M14 25l7 7 13-15"/></svg>';

export function lostPage(): Outgoing {
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
