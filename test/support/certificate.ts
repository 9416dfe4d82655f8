// A certificate of one's own for a host, as somebody makes who tests webhooks on one machine.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

/** Writes a key and a certificate, good for two days, into the folder; gives the paths of the PEM files. */
export function makeCertificate(folder: string, host = 'localhost'): { key: string; cert: string } {
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  execFileSync('openssl', [
    'req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2',
    '-subj', `/CN=${host}`, '-addext', `subjectAltName=DNS:${host}`, '-keyout', key, '-out', cert,
  ], { stdio: 'ignore' });
  return { key, cert };
}
