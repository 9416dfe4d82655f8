// Shows the account, the profile, the service, how long the token lasts and where secrets are kept.
import { credentialName } from '../../store/tokens.js';
import { loginView } from '../../terminal/login-view.js';
import type { Context } from '../context.js';
import { defineCommand } from '../define.js';

export const whoami = defineCommand({
  arguments: {},
  options: {},
  examples: [['svcpay whoami -q', 'the account id, for a script']],
  async run(_values, context) {
    const { settings } = context;
    const client = await context.client();
    const accountId = await client.accountId();
    const store = settings.embedded ? (await context.embedded()).tokens : context.tokens();
    const token = await store?.load();
    const login = {
      profile: settings.profileName,
      baseUrl: settings.baseUrl ?? '',
      accountId,
      tokenExpiresAt: token?.expiresAt ?? client.serviceNow(),
      secretIn: await secretPlace(context),
      tokenIn: store?.path ?? '',
    };
    await context.out.record(login, loginView(login));
  },
});

async function secretPlace({ settings, secrets }: Context): Promise<string> {
  const { embedded, apiSecret, baseUrl, apiKey } = settings;
  if (embedded) return 'the sandbox itself';
  if (apiSecret !== undefined) return 'the environment';
  const kept = await secrets.load(credentialName(baseUrl ?? '', apiKey ?? ''));
  return kept === undefined ? 'nowhere' : secrets.where(kept.place);
}
