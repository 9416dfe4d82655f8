// Checks base URLs, and decides which base URLs may receive a token.
import { Failure } from '../formats/failure.js';

const longest = 2_000;

/**
 * Checks a base URL, and returns it without a trailing slash and without a pasted `/api/v2`. A bare
 * name such as `wallet.example.com` means https, and a bare loopback name such as `localhost:8787`
 * means http. The URL must be https, or http to this machine, and must have no credentials, query
 * or fragment. Throws Failure `usage` for a text that is not an allowed base URL.
 */
export function parseBaseUrl(text: string): string {
  const trimmed = withScheme(text.trim());
  const url = trimmed.length <= longest && URL.canParse(trimmed) ? new URL(trimmed) : undefined;
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:') {
    throw usage('The base URL is not valid.', 'Write a URL such as https://api.example.com.');
  }
  if (url.username !== '' || url.password !== '') {
    throw usage(
      `The base URL for ${url.host} contains a user name or password.`,
      'Remove the user name and the password from the base URL. svcpay signs in with the API key.',
    );
  }
  if (url.search !== '' || url.hash !== '') {
    throw usage('The base URL has a query or a fragment.', `Write ${url.origin}${url.pathname}.`);
  }
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
    throw usage(
      `http://${url.host} is not encrypted, so anyone on the network could read the token.`,
      `Use https://${url.host}. ` +
        'Plain http is allowed only for this machine (localhost, 127.0.0.1, [::1]).',
    );
  }
  return (
    url.origin +
    url.pathname
      .replace(/\/*$/, '')
      .replace(/(?:\/+api\/v2)?$/, '')
      .replace(/\/*$/, '')
  );
}

function withScheme(text: string): string {
  if (
    text.includes('://') ||
    !/^(?:[\w-]+(?:\.[\w-]+)*|\[[\da-f:]+\])(?::\d+)?(?:\/.*)?$/i.test(text)
  )
    return text;
  const https = `https://${text}`;
  return URL.canParse(https) && isLoopback(new URL(https).hostname) ? `http://${text}` : https;
}

/** Whether a host name, in the spelling of `URL`, always means this machine. */
export function isLoopback(hostname: string): boolean {
  return isLocalName(hostname) || /^127(?:\.\d{1,3}){3}$/.test(hostname) || hostname === '[::1]';
}

/** Whether a host name is `localhost` or a name under `localhost` (RFC 6761). */
export const isLocalName = (hostname: string): boolean =>
  hostname === 'localhost' || hostname.endsWith('.localhost');

const usage = (message: string, hint: string): Failure => new Failure('usage', message, { hint });
