// The refusal of an address at which a server cannot listen.
import { Failure } from '../../formats/failure.js';
import { codeOf } from '../../formats/text.js';

/** @param command the command with the option that chooses the port */
export function portFailure(error: unknown, host: string, port: number, command: string): unknown {
  const code = codeOf(error);
  if (code === 'EADDRINUSE') {
    return new Failure('usage', `Port ${port} is in use.`, {
      next: { do: 'run', command: `${command} 0` },
      cause: error,
    });
  }
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND' || code === 'EACCES') {
    return new Failure(
      'usage',
      `svcpay cannot listen on address ${host}, port ${port} (${code}).`,
      { cause: error },
    );
  }
  return error;
}
