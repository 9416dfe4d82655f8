// Shows the account, profile and service, and where svcpay stores the secrets.
import { loginView } from '../../terminal/views/settings-views.js';
import { defineCommand, record } from '../define.js';
import { secretPlace } from '../service.js';

export const whoami = defineCommand({
  examples: [['svcpay whoami -q', 'prints the account id, for a script']],
  async run(_inputs, context) {
    const { settings } = context;
    const client = await context.client();
    const accountId = await client.accountId();
    const store = await context.tokens();
    const token = await store?.load();
    return {
      profile: settings.profileName,
      baseUrl: settings.baseUrl ?? '',
      accountId,
      tokenExpiresAt: token?.expiresAt ?? client.serviceNow(),
      secretIn: (await secretPlace(context)) ?? 'nowhere',
      tokenIn: store?.path ?? '',
    };
  },
  view: record(loginView),
});
