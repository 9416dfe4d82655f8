// Creates a self-signed certificate for a host, as a developer does to test webhooks locally, but
// without openssl, which not every machine has.
import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

const dayMs = 86_400_000;

/** Encodes one element of DER: the tag, the length of the content, and the content. */
function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size =
    length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

const sequence = (...parts: readonly Uint8Array[]): Buffer => der(0x30, ...parts);
const hex = (text: string): Buffer => Buffer.from(text, 'hex');
const ecdsaWithSha256 = sequence(der(0x06, hex('2a8648ce3d040302')));
const utc = (at: number): Buffer =>
  der(
    0x17,
    Buffer.from(
      `${new Date(at)
        .toISOString()
        .replaceAll(/[-:T]|\.\d+/g, '')
        .slice(2, 14)}Z`,
    ),
  );
const extension = (id: string, value: Uint8Array): Buffer =>
  sequence(der(0x06, hex(id)), der(0x04, value));

/**
 * Writes a key and a certificate that is valid for one more day into the folder, and returns the
 * paths of the PEM files.
 */
export function makeCertificate(folder: string, host = 'localhost'): { key: string; cert: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const name = sequence(
    der(0x31, sequence(der(0x06, hex('550403')), der(0x0c, Buffer.from(host)))),
  );
  const alternativeName = extension('551d11', sequence(der(0x82, Buffer.from(host))));
  const authority = extension('551d13', sequence(der(0x01, hex('ff'))));
  const body = sequence(
    der(0xa0, der(0x02, hex('02'))),
    der(0x02, hex('01'), randomBytes(8)),
    ecdsaWithSha256,
    name,
    sequence(utc(Date.now() - dayMs), utc(Date.now() + dayMs)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(alternativeName, authority)),
  );
  const whole = sequence(
    body,
    ecdsaWithSha256,
    der(0x03, hex('00'), sign('sha256', body, privateKey)),
  );
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  writeFileSync(key, privateKey.export({ type: 'pkcs8', format: 'pem' }));
  writeFileSync(
    cert,
    `-----BEGIN CERTIFICATE-----\n${whole.toString('base64').replaceAll(/.{64}(?=.)/g, '$&\n')}\n-----END CERTIFICATE-----\n`,
  );
  return { key, cert };
}
