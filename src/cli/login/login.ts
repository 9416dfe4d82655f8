// Logs in: reads or asks for the credentials, signs in, and then saves them.
import { parseBaseUrl } from '../../api/check-options.js';
import type { Credentials, Token } from '../../api/types.js';
import { asFailure, Failure, invalid } from '../../formats/failure.js';
import { networks } from '../../formats/rails.js';
import { changeProfile, type Profile } from '../../store/profile/profiles.js';
import {
  embeddedUrl,
  fromEnvironment,
  credentialName,
  type KeptTokens,
  openTokens,
} from '../../store/profile/settings.js';
import { sanitize } from '../../terminal/text.js';
import { failureLines, commandFor } from '../../terminal/next-step.js';
import { loginView, type Login } from '../../terminal/views/settings-views.js';
import type { Context } from '../context.js';
import { anyText, back, type Back, stepFor, taking, walk } from '../../terminal/ask/questions.js';
import { defineCommand, record } from '../define.js';
import { leftAtOnce, readStdin } from '../process.js';
import { choice, flag, word, type ValuesOf } from '../values.js';

/** Reads an API key. Refuses a text in the form of an API secret, which svcpay would show. */
function parseApiKey(given: string): string {
  if (!/^[0-9a-f]{64}$/i.test(given)) return given;
  throw invalid('This looks like an API secret. Give the API key first.');
}

const options = {
  apiKey: word('KEY', parseApiKey).optional().describe('API key'),
  apiSecretStdin: flag().describe('read the API secret from stdin'),
  network: choice(networks, 'NETWORK')
    .optional()
    .describe(`network of the service: ${networks.join(', ')}`),
};

type Answers = ValuesOf<typeof options>;

export const login = defineCommand({
  createsProfile: true,
  options,
  examples: [
    ['svcpay login', 'asks for everything'],
    ['svcpay login --sandbox', 'uses the embedded sandbox, without questions'],
    [
      'svcpay login --base-url https://pay.example --api-key KEY --api-secret-stdin < secret',
      'logs in from a script',
    ],
  ],
  changes: true,
  run: (answers, context) =>
    context.globals.sandbox ? loginToSandbox(context) : loginToService(answers, context),
  view: record(loginView),
  adapt: ({ profile }) => ({
    screen: (canvas, login) => [
      ...loginView.screen(canvas, login),
      '',
      `  Saved as profile "${sanitize(profile)}", now your default. ` +
        `Next: ${commandFor({ do: 'see-wallets' }, {})}`,
    ],
  }),
});

async function loginToSandbox(context: Context): Promise<Login> {
  await agreeToReplace({ sandbox: true }, context);
  const client = await context.client();
  const token = await client.authenticate();
  const { tokens } = await context.embedded();
  const { config, settings } = context;
  await changeProfile(
    config,
    settings.profileName,
    ({ limits, sender }) => ({
      sandbox: true,
      ...(limits && { limits }),
      ...(sender && { sender }),
    }),
    true,
  );
  return loginOf(context, embeddedUrl, token, 'the sandbox itself', tokens.path);
}

async function loginToService(answers: Answers, context: Context): Promise<Login> {
  const { config, settings, env, secrets } = context;
  // When a profile changes from the embedded sandbox to a service, the profile does not keep the
  // sandbox's address.
  const before = settings.embedded ? undefined : settings.baseUrl;
  const start: Given = {
    baseUrl: before === undefined ? undefined : parseBaseUrl(before),
    apiKey: answers.apiKey ?? fromEnvironment(env, 'SVCPAY_API_KEY'),
    apiSecret: await knownSecret(answers, context),
  };
  const { baseUrl, apiKey, apiSecret, tokens, token } = await signIn(start, context);
  const place = await secrets.save(credentialName(baseUrl, apiKey), apiSecret);
  const { maker } = settings;
  const change = (before: Profile): Profile => ({
    ...before,
    sandbox: false,
    baseUrl,
    apiKey,
    ...(maker !== 'service' && { maker }),
    ...(answers.network !== undefined && { network: answers.network }),
  });
  await changeProfile(config, settings.profileName, change, true);
  return loginOf(context, baseUrl, token, secrets.where(place), tokens.path);
}

type Given = Readonly<Record<'baseUrl' | 'apiKey' | 'apiSecret', string | undefined>>;

/** The answers of the login. The last step signs in with the others. */
interface Access extends Given {
  readonly session?: Session;
}

interface Session extends Credentials {
  readonly baseUrl: string;
  readonly tokens: KeptTokens;
  readonly token: Token;
}

const flags: Readonly<Record<keyof Given, string>> = {
  baseUrl: '--base-url URL',
  apiKey: '--api-key KEY',
  apiSecret: '--api-secret-stdin',
};

const step = stepFor<Access>();

/**
 * Asks for missing credentials, and signs in. If the service refuses a typed key, the key is
 * probably right, so svcpay asks for the masked secret again. Esc returns to the key.
 */
async function signIn(start: Given, context: Context): Promise<Session> {
  const { ask } = context;
  const missing = (['baseUrl', 'apiKey', 'apiSecret'] as const).filter(
    (name) => start[name] === undefined,
  );
  if (missing.length > 0) ask.demand(missing.map((name) => flags[name]));
  const isTyped = start.apiKey === undefined || start.apiSecret === undefined;
  const signedIn = await walk<Access>(ask.pose, start, [
    (soFar, before) =>
      soFar.baseUrl === undefined
        ? taking(askAddress(before?.baseUrl, context), (baseUrl) => ({ ...soFar, baseUrl }))
        : undefined,
    step('apiKey', () => ({ message: 'API key', flag: flags.apiKey, parse: parseApiKey })),
    async (soFar, _before, pose) => {
      const { baseUrl = '', apiKey = '' } = soFar;
      await agreeToReplace({ sandbox: false, baseUrl, apiKey }, context);
      const question = { message: 'API secret', flag: flags.apiSecret, parse: anyText } as const;
      const session = insist(
        async (refused: string | undefined) =>
          (refused === undefined ? soFar.apiSecret : undefined) ??
          pose({ ...question, isSecret: true }),
        async (apiSecret) => {
          const tokens = openTokens(context.home.config, credentialName(baseUrl, apiKey));
          const client = await context.clientOf(baseUrl, { apiKey, apiSecret }, tokens);
          try {
            return { baseUrl, apiKey, apiSecret, tokens, token: await client.authenticate() };
          } catch (error) {
            const failure = asFailure(error);
            if (isTyped && failure.kind === 'authentication') return failure;
            throw error;
          }
        },
        context,
      );
      return taking(session, (found) => ({ ...soFar, session: found }));
    },
  ]);
  if (signedIn === back || signedIn.session === undefined)
    throw leftAtOnce(context, 'Nothing was changed');
  return signedIn.session;
}

/** Asks until svcpay can use the answer, and shows why svcpay could not use the last answer. */
async function insist<T, R>(
  ask: (refused: T | undefined) => Promise<T | Back>,
  use: (given: T) => Promise<R | Failure>,
  { out, globals: run }: Context,
): Promise<R | Back> {
  for (let refused: T | undefined; ;) {
    const given = await ask(refused);
    if (given === back) return back;
    const result = await use(given);
    if (!(result instanceof Failure)) return result;
    out.card((canvas) => failureLines(result, { money: false, canvas, run }));
    refused = given;
  }
}

/**
 * Asks for the address of the service, and checks the typed address before the person types a key.
 */
const askAddress = (before: string | undefined, context: Context): Promise<string | Back> =>
  insist(
    (refused: string | undefined) =>
      context.ask.pose({
        message: 'Address of the service',
        example: 'e.g. wallet.example.com',
        flag: flags.baseUrl,
        parse: parseBaseUrl,
        default: refused ?? before,
      }),
    async (typed) => (await addressProblem(typed, context)) ?? typed,
    context,
  );

/**
 * Checks the base URL of a service by signing in with invalid credentials. Returns the problem with
 * the base URL, or undefined after a refusal, because a refusal of the credentials shows that a
 * service answers at the base URL.
 */
async function addressProblem(
  baseUrl: string,
  { clientOf }: Context,
): Promise<Failure | undefined> {
  const noTokens = { load: () => Promise.resolve(undefined), save: () => Promise.resolve() };
  try {
    await (await clientOf(baseUrl, { apiKey: 'none', apiSecret: 'none' }, noTokens)).authenticate();
    return undefined;
  } catch (error) {
    const failure = asFailure(error);
    return ['authentication', 'refused'].includes(failure.kind) ? undefined : failure;
  }
}

async function knownSecret(
  { apiSecretStdin }: Answers,
  context: Context,
): Promise<string | undefined> {
  if (!apiSecretStdin) return context.settings.apiSecret;
  const secret = (await readStdin(context)).trim();
  if (secret === '') throw invalid('stdin contains no API secret.');
  return secret;
}

/** Asks before `login` replaces a profile that belongs to a different service or API key. */
async function agreeToReplace(
  next: Profile,
  { config, settings: { profileName, profile }, ask }: Context,
): Promise<void> {
  const { sandbox, baseUrl, apiKey } = profile;
  const isThere =
    Object.hasOwn(config.read().profiles, profileName) &&
    (sandbox === true || apiKey !== undefined);
  const isSame =
    next.sandbox === true ? sandbox === true : next.baseUrl === baseUrl && next.apiKey === apiKey;
  if (!isThere || isSame) return;
  const former =
    sandbox === true ? 'the embedded sandbox' : `${baseUrl ?? ''} with the key ${apiKey ?? ''}`;
  const yes = await ask.confirm(
    `Profile ${profileName} is ${former}. Replace it?`,
    '--profile NAME stores the new login in a separate profile',
  );
  if (!yes)
    throw new Failure('declined', `Profile ${profileName} is unchanged.`, {
      next: { do: 'run', command: 'login --profile NAME' },
    });
}

const loginOf = (
  { settings: { profileName: profile } }: Context,
  baseUrl: string,
  { accountId, expiresAt: tokenExpiresAt }: Token,
  secretIn: string,
  tokenIn: string,
): Login => ({ profile, baseUrl, accountId, tokenExpiresAt, secretIn, tokenIn });
