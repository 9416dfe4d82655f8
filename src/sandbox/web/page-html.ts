// The payment page: one HTML document whose content policy forbids everything external.
import { createHash } from 'node:crypto';
import type Big from 'big.js';
import { formatAmount, formatSats } from '../../formats/amount.js';
import { encodeQr, svgOf } from '../../formats/qr/qr-code.js';
import type { Outgoing } from '../http/routing.js';
import { pageScript } from './page-script.js';
import { pageStyle } from './page-style.js';

/** `unopened` is unconfirmed, `seen` awaits the blockchain, `closed` ended without a payment. */
export type Phase = 'unopened' | 'waiting' | 'seen' | 'paid' | 'expired' | 'closed';

/** The part that the page polls. Times are epoch ms of the service's clock. */
export interface PageState {
  readonly phase: Phase;
  readonly expiresAt: number;
  readonly now: number;
  readonly frozen: boolean;
}

export interface PaymentPage extends PageState {
  readonly payee: string;
  readonly ccy: string;
  readonly amount: Big;
  readonly txnId: string;
  readonly method: 'lightning' | 'on-chain';
  /** Missing until the transaction is confirmed. */
  readonly request?: { readonly uri: string; readonly shown: string } | undefined;
}

/** Light modules around the code, as the standard requires. */
const qrBorder = 4;

/** All are in the page; the style shows the current phase. */
const messages: readonly (readonly [phase: Phase, title: string, text: string])[] = [
  [
    'unopened',
    'Not open yet',
    'This request is not confirmed yet. The page updates automatically.',
  ],
  ['waiting', 'Waiting for the payment', 'Scan the code with a wallet, or copy it.'],
  ['seen', 'Payment seen', 'Awaiting confirmations on the blockchain. You need not do anything.'],
  ['paid', 'Paid', 'The payment has arrived. You can close this page.'],
  ['expired', 'Expired', 'This request can no longer be paid. Ask for a new one.'],
  ['closed', 'Closed', 'This request was closed. Please do not pay it.'],
];

export function paymentPage(page: PaymentPage): Outgoing {
  const { phase, expiresAt, now, frozen, payee, ccy, amount, request } = page;
  const live = `data-phase="${phase}" data-expires="${expiresAt}" data-now="${now}" data-frozen="${frozen}"`;
  return document(
    200,
    `Pay ${payee}`,
    `
<body ${live}>
<main>
  <header>
    <p class="payee">Pay <strong>${escape(payee)}</strong></p>
    <h1 class="amount">${escape(formatAmount({ ccy, value: amount }))}</h1>
    ${ccy === 'BTC' ? `<p class="sats">${escape(formatSats(amount))}</p>` : ''}
  </header>
  ${request === undefined ? '' : requestPart(page, request)}
  <section class="status" role="status" aria-live="polite">
    ${messages.map(statusPart).join('\n    ')}
    <p class="offline" hidden>No connection to the service. Trying again.</p>
  </section>
  <div class="countdown" role="timer" aria-label="Time left to pay">
    <span class="left"></span><i class="bar"><b></b></i>
  </div>
  <footer>
    <button class="pay" type="button">Pay now</button>
    <p>Sandbox: no real money moves. <span class="hint">“Pay now” pays as somebody else’s wallet would.</span></p>
    <p class="id">${escape(page.txnId)}</p>
  </footer>
</main>
<script>${pageScript}</script>
</body>`,
  );
}

function requestPart(
  { method }: PaymentPage,
  { uri, shown }: { uri: string; shown: string },
): string {
  const bitmap = encodeQr(uri, qrBorder);
  const name = method === 'lightning' ? 'invoice' : 'address';
  const link = `<a class="qr" href="${escape(uri)}" aria-label="Open in a wallet">`;
  return `<section class="request">
    ${bitmap === undefined ? '' : `${link}${svgOf(bitmap)}</a>`}
    <div class="code"><code>${escape(shown)}</code><button class="copy" type="button">Copy ${name}</button></div>
  </section>`;
}

function statusPart([phase, title, text]: (typeof messages)[number]): string {
  const mark = phase === 'paid' ? tick : '';
  return `<div class="is-${phase}">${mark}<h2>${title}</h2><p>${text}</p></div>`;
}

const tick =
  '<svg class="tick" viewBox="0 0 48 48" aria-hidden="true"><circle cx="24" cy="24" r="22"/>' +
  '<path d="M14 25l7 7 13-15"/></svg>';

export function lostPage(): Outgoing {
  return document(
    404,
    'No such request',
    `
<body data-phase="lost">
<main><section class="status"><div class="is-lost"><h2>No such request</h2>
<p>There is nothing to pay at this address. Check the link.</p></div></section></main>
</body>`,
  );
}

function document(status: number, title: string, body: string): Outgoing {
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
<title>${escape(title)}</title>
<link rel="icon" href="data:,">
<style>${pageStyle}</style>
</head>${body}
</html>
`,
  };
}

/** Allows only this style, this script and requests to the service itself. */
function policy(): string {
  return [
    "default-src 'none'",
    `style-src '${hashOf(pageStyle)}'`,
    `script-src '${hashOf(pageScript)}'`,
    "connect-src 'self'",
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

const hashOf = (text: string): string =>
  `sha256-${createHash('sha256').update(text).digest('base64')}`;

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const escape = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => entities[character] ?? character);
