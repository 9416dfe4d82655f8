// Runs the sandbox as a server, in a separate process from the measured programs.
import { createHmac, randomUUID } from 'node:crypto';
import { startSandbox } from '../../dist/sandbox.js';

export async function startSandboxServer() {
  const sandbox = await startSandbox({ autoPay: 'off' });
  const { url, apiKey, apiSecret } = sandbox;
  const token = async () => {
    const body = JSON.stringify({ nonce: randomUUID() });
    const signature = createHmac('sha256', apiSecret)
      .update(`${apiKey}&payload=${body}`)
      .digest('hex');
    const headers = {
      'content-type': 'application/json',
      'x-api-key': apiKey,
      'x-api-signature': signature,
    };
    const answer = await fetch(`${url}/api/v2/authentication/token-signature`, {
      method: 'POST',
      headers,
      body,
    });
    return (await answer.json()).accessToken;
  };
  return {
    url,
    env: { SVCPAY_BASE_URL: url, SVCPAY_API_KEY: apiKey, SVCPAY_API_SECRET: apiSecret },
    invoice: () => sandbox.invoice('1000sat'),
    token,
    get: async (path) =>
      (await fetch(url + path, { headers: { authorization: `Bearer ${await token()}` } })).json(),
    /** Settles all transactions in flight. */
    settle: () => sandbox.clock.advance('1h'),
    stop: () => sandbox.stop(),
  };
}
