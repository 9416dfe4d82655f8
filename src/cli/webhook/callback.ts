// The address that the service calls: HTTPS only, checked here before anything is sent.
import { isLoopback } from '../../api/base-url.js';
import { Failure } from '../../formats/failure.js';
import { word } from '../values.js';

/** A callback URL; whether its scheme will do is {@link checkCallback}'s to say. */
export const callbackUrl = () =>
  word('URL', (given) => {
    if (!URL.canParse(given)) throw new Failure('usage', `"${given}" is not a URL. Write one such as https://shop.example/hooks.`);
    const url = new URL(given);
    if (url.username !== '' || url.password !== '') {
      throw new Failure('usage', 'A callback cannot carry a user name or password: the signature proves who calls.');
    }
    return url;
  });

/** Throws Failure `usage` unless it is https. A sandbox on this machine may be told to call this machine over http. */
export function checkCallback({ protocol, hostname }: URL, baseUrl: string | undefined): void {
  if (protocol === 'https:') return;
  if (protocol === 'http:' && isLoopback(hostname) && baseUrl?.startsWith('http:') === true) return;
  throw new Failure('usage', 'The callback must be an https URL: the service calls no other.', {
    hint: 'For a receiver on this machine use a tunnel that gives it an https address.',
  });
}
