// The raw bytes of a file or of stdin, to be signed or verified as they are.
import { readFile } from 'node:fs/promises';
import { Failure } from '../../formats/failure.js';
import type { Needs } from '../context.js';
import { readStdinBytes } from '../stdin.js';

/** `-` or nothing is stdin, which cannot hold a secret as well. */
export async function inputBytes(file: string | undefined, secretStdin: boolean, context: Needs<'stdin'>): Promise<Uint8Array> {
  if (file !== undefined && file !== '-') {
    return readFile(file).catch((cause: unknown) => {
      throw new Failure('usage', `The file ${file} cannot be read.`, { cause });
    });
  }
  if (secretStdin) {
    throw new Failure('usage', 'The body and the secret cannot both come from stdin.', {
      hint: 'Give the body as a file, or the secret in SVCPAY_WEBHOOK_SECRET.',
    });
  }
  return readStdinBytes(context);
}
