// Shows the account, the profile, the service, how long the token lasts and where secrets are kept.
import { loginView } from '../../terminal/views/login-view.js';
import { defineCommand } from '../define.js';
import { secretPlace, tokenStore } from './whereabouts.js';

export const whoami = defineCommand({
  examples: [['svcpay whoami -q', 'the account id, for a script']],
  async run(_values, context) {
    const { settings } = context;
    const client = await context.client();
    const accountId = await client.accountId();
    const store = await tokenStore(context);
    const token = await store?.load();
    const login = {
      profile: settings.profileName,
      baseUrl: settings.baseUrl ?? '',
      accountId,
      tokenExpiresAt: token?.expiresAt ?? client.serviceNow(),
      secretIn: (await secretPlace(context)) ?? 'nowhere',
      tokenIn: store?.path ?? '',
    };
    await context.out.record(login, loginView(login));
  },
});
