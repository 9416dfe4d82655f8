// Checks the version, Node, file modes, settings, journal, limits, service, clocks and token, and
// gives advice.
// The exit code is 1 if a check finds a problem.
import { readdirSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { argv, platform, versions } from 'node:process';
import { isLoopback, parseBaseUrl } from '../../api/check-options.js';
import { mayBeProxied, proxyOf, takesAnyCertificate } from '../../api/network.js';
import { NetworkError } from '../../api/errors.js';
import { describeDuration } from '../../formats/calendar.js';
import { dateTime } from '../../terminal/time.js';
import { Failure, type FailureDetails, invalid } from '../../formats/failure.js';
import { counted } from '../../formats/text.js';
import { status } from '../../store/journal/payment.js';
import { isThere, journalFile } from '../../store/files/home.js';
import { checkupLines, checkupList, type Check } from '../../terminal/views/settings-views.js';
import { adviceOf, commandFor, commandLine } from '../../terminal/next-step.js';
import type { Context } from '../context.js';
import { namesOf } from '../../terminal/rows/list.js';
import { defineCommand } from '../define.js';
import { lazily } from '../stores.js';
import { limitsInForce } from '../limits/in-force.js';
import { Ended } from '../process.js';
import { secretPlace } from '../service.js';
import { installationOf, newerVersion } from '../upgrade.js';

export const doctor = defineCommand({
  examples: [
    ['svcpay doctor', 'checks everything and shows what is wrong'],
    ['svcpay doctor --json', 'prints the checks, for a script; exit code 1 if something is wrong'],
  ],
  run: async (_inputs, context: Context) => checkUp(context),
  view: {
    fields: namesOf(undefined, checkupList),
    dataOf: (checks: readonly Check[]) => checks,
    async print(checks: readonly Check[], _parts, { out }) {
      if (out.forPeople) out.screen((canvas) => checkupLines(checks, canvas));
      else await out.list(checks, checkupList);
      if (checks.some(({ state }) => state === 'problem')) throw new Ended(1);
    },
  },
});

/** What a check found, perhaps with advice, or undefined if there is nothing to check. */
type Finding = string | readonly [detail: string, advice: string] | undefined;

const signIn = { next: { do: 'sign-in' } } as const;

/** A problem, which a check throws. */
const problem = (detail: string, details: FailureDetails): Failure => invalid(detail, details);

interface Checkup {
  readonly name: string;
  /** The checks that must have found no problem before this check runs. */
  readonly needs?: readonly string[];
  readonly check: (
    context: Context,
    probed: () => ReturnType<typeof probe>,
  ) => Finding | Promise<Finding>;
}

async function checkUp(context: Context): Promise<Check[]> {
  const checks: Check[] = [];
  const probed = lazily(() => probe(context));
  const isFine = (name: string): boolean =>
    checks.some(({ check, state }) => check === name && state === 'ok');
  for (const { name, needs = [], check } of checkups) {
    if (!needs.every(isFine)) continue;
    try {
      const found = await check(context, probed);
      const [detail, advice = null] = [found].flat();
      if (detail !== undefined) checks.push({ check: name, state: 'ok', detail, advice });
    } catch (error) {
      checks.push({ check: name, state: 'problem', ...problemOf(error, context) });
    }
  }
  return checks;
}

function problemOf(
  error: unknown,
  { globals }: Pick<Context, 'globals'>,
): Pick<Check, 'detail' | 'advice'> {
  if (error instanceof Failure && error.kind !== 'interrupted')
    return { detail: error.message, advice: adviceOf(error, globals) ?? null };
  // An error with the property `syscall` is a file error of the operating system.
  if (error instanceof Error && 'syscall' in error) return { detail: error.message, advice: null };
  throw error;
}

function checkVersion({ version, home }: Context): Finding {
  const { by, upgrade } = installationOf(realpathSync(argv[1] ?? ''));
  const newest = newerVersion(home.data, version);
  const newer = newest === undefined ? '' : `, ${newest} is available`;
  return `${version}, installed with ${by}${newer}; upgrade: ${upgrade}`;
}

function checkNode(): Finding {
  const [major = 0, minor = 0] = versions.node.split('.').map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return versions.node;
  throw problem(`${versions.node} is too old`, { hint: 'Install Node 20.19 or newer.' });
}

const beyondOwner = 0o077;
const keptFiles = /^(?:config|secrets|tokens|seen-\w+)\.json$|^(?:journal|events)\.db/;

/**
 * Checks that secrets, tokens and payments are readable only by their owner. Ignores the files of
 * the sandbox, because the sandbox holds no real money.
 */
function checkModes({ home: { config, data } }: Context): Finding {
  if (platform === 'win32') return undefined;
  const folders = [...new Set([config, data])].filter((folder) => isThere(folder));
  const files = folders.flatMap((folder) =>
    readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isFile() && keptFiles.test(entry.name))
      .map((entry) => join(folder, entry.name)),
  );
  const open = [...folders, ...files].filter((path) => (statSync(path).mode & beyondOwner) !== 0);
  if (open.length === 0)
    return folders.length === 0 ? 'none yet' : `${folders.join(', ')}: readable only by you`;
  throw problem(`other users of this machine can read ${open.join(', ')}`, {
    hint: `chmod go= ${open.map((path) => `'${path}'`).join(' ')}`,
  });
}

function checkSettings({ settings }: Context): Finding {
  const { profileName, embedded, baseUrl, apiKey } = settings;
  if (embedded) return `profile ${profileName}, the embedded sandbox`;
  if (baseUrl === undefined || apiKey === undefined)
    throw problem(`profile ${profileName} is not logged in`, signIn);
  return `profile ${profileName}, ${parseBaseUrl(baseUrl)}`;
}

/**
 * Checks the journal. For a journal in a file, `doctor` reads every page, which other commands do
 * once a day. For a journal in a database, `doctor` checks the tables.
 */
async function checkJournal(context: Context): Promise<Finding> {
  const { home, config, journal } = context;
  const path = journalFile(home);
  const found = await context.database();
  if (found === undefined) {
    const isKnown = config.read().hasJournal === true;
    if (!isThere(path) && !isKnown) return 'none yet';
    (await import('../../store/journal/sqlite-journal.js')).checkJournal(path, isKnown);
  }
  await journal();
  const { inspectStores } = await import('../db/db.js');
  const { rows, problems } = await inspectStores(context);
  for (const problem of problems) throw problem;
  const held = rows.flatMap(({ part, rows: count }) =>
    count === undefined ? [] : counted(count, part === 'journal' ? 'payment' : 'event'),
  );
  const [first] = rows;
  const place =
    found === undefined
      ? path
      : `${found.postgres.where}, database ${first?.id}, generation ${first?.generation}`;
  return `${place}: intact, ${held.join(', ')}`;
}

async function checkLimits(context: Context): Promise<Finding> {
  const { perPayment, perDay, destinations } = await limitsInForce(context);
  const amounts = Object.keys(perPayment).length + Object.keys(perDay).length;
  if (amounts + destinations.length === 0)
    return ['none', commandLine({ command: 'limits set --per-day 100000sat' }, context.globals)];
  const allowed =
    destinations.length === 0 ? 'any destination' : counted(destinations.length, 'destination');
  return `${counted(amounts, 'amount limit')}, ${allowed}`;
}

function checkProxy({ settings: { baseUrl }, env }: Context): Finding {
  const proxy = proxyOf(env);
  // Ignores an invalid proxy address, because the check of the service reports such an address.
  if (
    proxy === undefined ||
    baseUrl === undefined ||
    !mayBeProxied(new URL(baseUrl)) ||
    !URL.canParse(proxy.address)
  )
    return undefined;
  const except = proxy.except === '' ? '' : `; requests to ${proxy.except} use no proxy`;
  return `requests go through ${new URL(proxy.address).host}${except}`;
}

function checkCertificates({ settings, env }: Context): Finding {
  if (!takesAnyCertificate(env)) return undefined;
  const detail = 'NODE_TLS_REJECT_UNAUTHORIZED=0: no certificate is checked';
  if (isLoopback(new URL(settings.baseUrl ?? '').hostname))
    return `${detail}; the service is on this machine`;
  throw problem(detail, { hint: 'unset NODE_TLS_REJECT_UNAUTHORIZED' });
}

async function checkSecret(context: Context): Promise<Finding> {
  const place = await secretPlace(context);
  if (place === undefined) throw problem('the API secret is missing', signIn);
  return `in ${place}`;
}

const probeTimeoutMs = 10_000;

/**
 * Sends a request with an invalid token to the service. A 401 response shows that the service
 * answers.
 */
async function probe({ settings, transport, now, signal, version }: Context) {
  const baseUrl = parseBaseUrl(settings.baseUrl ?? '');
  const failure = (what: string, hint: string): Failure =>
    new Failure('temporary', `${baseUrl} ${what}`, { hint });
  const sentAt = now();
  const send = await transport();
  const { status, headers } = await send({
    method: 'GET',
    url: `${baseUrl}/api/v2/transaction`,
    headers: {
      accept: 'application/json',
      authorization: 'Bearer none',
      'user-agent': `svcpay/${version}`,
    },
    signal,
    timeoutMs: probeTimeoutMs,
  }).catch((error: unknown) => {
    if (!(error instanceof NetworkError)) throw error;
    throw failure(
      `does not answer: ${error.message}`,
      'Check the network, the proxy settings and the base URL.',
    );
  });
  if (![401, 403].includes(status))
    throw failure(
      `answers ${status} instead of 401`,
      status >= 500 ? 'Try again later.' : 'Check the base URL.',
    );
  const at = now();
  return { ms: at - sentAt, date: headers['date'], at };
}

const allowedSkewMs = 30_000;

/**
 * Compares the clocks of this machine and the service.
 * @param date the service's `Date` header
 * @param at the machine's clock when the header arrived, epoch ms
 * @param isSandbox whether the service is a sandbox, whose clock may differ
 */
export function compareClocks(date: string | undefined, at: number, isSandbox: boolean): Finding {
  const theirs = Date.parse(date ?? '');
  if (Number.isNaN(theirs)) return 'the service does not report its time';
  const ahead = at - theirs;
  if (Math.abs(ahead) <= allowedSkewMs) return 'agrees with the service';
  const skew =
    `this machine is ${describeDuration(Math.abs(ahead))} ${ahead > 0 ? 'ahead of' : 'behind'} ` +
    'the service';
  if (isSandbox) return skew;
  throw problem(skew, {
    hint: 'Set the clock, e.g. with NTP. Countdowns follow the clock of the service.',
  });
}

async function checkToken(context: Context): Promise<Finding> {
  const client = await context.client();
  await client.account();
  const accountId = await client.accountId();
  const kept = await (await context.tokens())?.load();
  return kept === undefined ? accountId : `${accountId}, until ${dateTime(kept.expiresAt)}`;
}

async function checkOpen(context: Context): Promise<Finding> {
  if ((await context.database()) === undefined && !isThere(journalFile(context.home)))
    return undefined;
  const { scope, journal } = await context.account();
  const payments = await (await journal()).open(scope);
  const unresolved = payments.filter((each) => ['error', 'unknown'].includes(status(each)));
  const others = payments.length - unresolved.length;
  const open = others === 0 ? '' : counted(others, 'open payment');
  const [first] = unresolved;
  if (first !== undefined)
    throw problem(
      `${open}${open && ', '}${counted(unresolved.length, 'unresolved payment')}: ask the ` +
        `service whether the payment ${first.ref} was made`,
      { hint: 'Then record the answer', next: { do: 'resolve', id: first.ref } },
    );
  if (open === '') return 'no open payments';
  return [open, commandFor({ do: 'see-open-payments' }, context.globals)];
}

const checkups: readonly Checkup[] = [
  { name: 'Version', check: checkVersion },
  { name: 'Node', check: checkNode },
  // Checks the file modes before any check opens the files, because opening the files corrects the
  // mode of the folder.
  { name: 'Files', check: checkModes },
  { name: 'Settings', check: checkSettings },
  { name: 'Journal', check: checkJournal },
  { name: 'Limits', needs: ['Settings'], check: checkLimits },
  { name: 'Proxy', needs: ['Settings'], check: checkProxy },
  { name: 'TLS', needs: ['Settings'], check: checkCertificates },
  { name: 'Secret', needs: ['Settings'], check: checkSecret },
  {
    name: 'Service',
    needs: ['Settings'],
    check: async (_context, probed) => `answers within ${(await probed()).ms} ms`,
  },
  {
    name: 'Clock',
    needs: ['Service'],
    async check({ settings: { baseUrl = '' } }, probed) {
      const { date, at } = await probed();
      return compareClocks(date, at, isLoopback(new URL(baseUrl).hostname));
    },
  },
  { name: 'Token', needs: ['Service', 'Secret'], check: checkToken },
  { name: 'Payments', needs: ['Token', 'Journal'], check: checkOpen },
];
