// Profiles (service, account, network), stored in config.json without secrets.
import { join } from 'node:path';
import * as v from 'valibot';
import { didYouMean, isFields, clip, folded } from '../../formats/text.js';
import { networks } from '../../formats/rails.js';
import { isCurrency } from '../../formats/amount.js';
import { Failure, invalid } from '../../formats/failure.js';
import { openDocument, type Document } from '../files/document.js';

/** The recipient or the sender of a payout, with fields of the specification's `kyc` object. */
const partySchema = v.object({
  type: v.picklist(['individual', 'business']),
  legalFullName: v.string(),
  countryCode: v.string(),
  contactNumber: v.optional(v.string()),
  address1: v.optional(v.string()),
});

const recipientSchema = v.object({
  method: v.string(),
  country: v.string(),
  institutionCode: v.string(),
  institutionName: v.optional(v.string()),
  acctNum: v.string(),
  acctName: v.optional(v.string()),
  party: partySchema,
  /** The numeric KYC codes of the last payout to this recipient. */
  codes: v.optional(
    v.object({ purpose: v.number(), source: v.number(), relationship: v.number() }),
  ),
});

/**
 * A numeric KYC code of payouts: the most recently used number, and a label for each number that
 * the service defines.
 */
const codeSchema = v.object({
  last: v.optional(v.number()),
  labels: v.optional(v.record(v.string(), v.string())),
});

const codesSchema = v.object({
  purpose: v.optional(codeSchema),
  source: v.optional(codeSchema),
  relationship: v.optional(codeSchema),
});

const limitOf = ([ccy, amount]: [string, string]): string | undefined =>
  !isCurrency(ccy)
    ? `a limit is in "${clip(ccy)}", which is not a currency code: write the code in ` +
      'capitals, such as BTC'
    : !/^\d{1,30}(?:\.\d{1,30})?$/.test(amount)
      ? `the limit in ${ccy} is "${clip(amount)}": write plain digits, such as 0.001`
      : undefined;

/** The schema of limits as amounts by currency, which refuses limits that could never apply. */
const amountsSchema = v.pipe(
  v.record(v.string(), v.string()),
  v.rawCheck(({ dataset, addIssue }) => {
    const message = dataset.typed
      ? Object.entries(dataset.value)
          .map(limitOf)
          .find((each) => each !== undefined)
      : undefined;
    if (message !== undefined) addIssue({ message });
  }),
);

const limitsSchema = v.object({
  perPayment: v.optional(amountsSchema, {}),
  perDay: v.optional(amountsSchema, {}),
  destinations: v.optional(v.array(v.string()), []),
});

const profileSchema = v.object({
  baseUrl: v.optional(v.string()),
  apiKey: v.optional(v.string()),
  account: v.optional(v.string()),
  maker: v.optional(v.string()),
  signatureHeader: v.optional(v.string()),
  network: v.optional(v.picklist(networks)),
  /** Whether the profile uses the embedded sandbox instead of a service at an address. */
  sandbox: v.optional(v.boolean()),
  sender: v.optional(v.partial(partySchema)),
  codes: v.optional(codesSchema),
  limits: v.optional(limitsSchema),
  /**
   * The address of the database without its password, or undefined if the data is in files of this
   * home.
   */
  databaseUrl: v.optional(v.string()),
  /** The fiat currency in which rates are stored when a transaction settles. */
  fiat: v.optional(v.string()),
  /** The address of the block explorer to which the screen links. */
  explorer: v.optional(v.string()),
  /**
   * The id of the database from which this home has paid. A database whose id differs from
   * `databaseId` may lack payments of this home.
   */
  databaseId: v.optional(v.string()),
  /** Whether svcpay refuses to pay proposals that the same user of the machine wrote. */
  refuseOwnProposals: v.optional(v.boolean()),
});

const configSchema = v.object({
  current: v.optional(v.string()),
  profiles: v.optional(v.record(v.string(), profileSchema), {}),
  /** The address book: destinations of `send` and accounts for payouts, by name. */
  contacts: v.optional(v.record(v.string(), v.union([v.string(), recipientSchema])), {}),
  /** The payout whose questions the person left last: the address of its service, and its flags. */
  leftPayout: v.optional(
    v.object({ baseUrl: v.string(), flags: v.record(v.string(), v.string()) }),
  ),
  /** Whether this home has made payments, so that an empty journal counts as damaged. */
  hasJournal: v.optional(v.boolean()),
  /**
   * The database into which the journal was moved. After the journal has moved into a database, the
   * journal file is outdated.
   */
  journalMovedTo: v.optional(v.string()),
});

export type Party = v.InferOutput<typeof partySchema>;
export type KycCodes = v.InferOutput<typeof codesSchema>;
export type Recipient = v.InferOutput<typeof recipientSchema>;
/** A destination of `send`, or an account for payouts. */
export type Contact = string | Recipient;
export type Contacts = Readonly<Record<string, Contact>>;
/**
 * Limits as amounts per currency, and allowed destinations. An empty list of allowed destinations
 * allows all destinations.
 */
export interface Limits {
  perPayment: Record<string, string>;
  perDay: Record<string, string>;
  destinations: string[];
}
export type Profile = v.InferOutput<typeof profileSchema>;
export type Config = v.InferOutput<typeof configSchema>;

export const defaultProfile = 'default';

/**
 * Checks the limits that an integrator's program passes. Throws Failure `usage` for a limit that
 * could never apply.
 */
export function readLimits(limits: Partial<Limits>): Limits {
  const { success, output, issues } = v.safeParse(v.strictObject(limitsSchema.entries), limits);
  if (success) return output;
  throw invalid(`The limits cannot be applied: ${issues[0].message}.`);
}

/**
 * Names that have a meaning in plain objects, so they cannot be names of profiles or contacts.
 */
const reserved = ['__proto__', 'constructor', 'prototype'];

export const openConfig = (folder: string): Document<Config> =>
  openDocument(folder, 'config', configSchema, {
    check: (raw) => refuseUnknownLimits(raw, join(folder, 'config.json')),
  });

const limitWord = /limit|max|budget|quota|daily|spend|(^|[^a-z])cap($|[^a-z])/i;
const limitPeriod = /per[-_ ]?(payment|hour|day|week|month|year|tx|transaction)/i;
const isLimitName = (name: string): boolean => limitWord.test(name) || limitPeriod.test(name);

/**
 * Refuses unknown fields of the configuration that look like limits, because svcpay would not apply
 * them.
 */
function refuseUnknownLimits(raw: Record<string, unknown>, path: string): void {
  const refuse = (
    where: string,
    value: unknown,
    known: Record<string, unknown>,
    isSuspect: (name: string) => boolean,
  ): void => {
    const names = isFields(value) ? Object.keys(value) : [];
    const found = names.find((name) => !Object.hasOwn(known, name) && isSuspect(name));
    if (found === undefined) return;
    throw invalid(
      `${path} contains the limit "${where}${found}", which this version does not support.`,
      {
        hint:
          'Remove this limit and set a supported limit, ' +
          'or use the version of svcpay that wrote it.',
      },
    );
  };
  refuse('', raw, configSchema.entries, isLimitName);
  const { profiles } = raw;
  for (const [name, profile] of Object.entries(isFields(profiles) ? profiles : {})) {
    refuse(`profiles.${name}.`, profile, profileSchema.entries, isLimitName);
    const limits = isFields(profile) ? profile['limits'] : undefined;
    // Refuses every unknown field of `limits`, because all fields of `limits` are meant as limits.
    refuse(`profiles.${name}.limits.`, limits, limitsSchema.entries, () => true);
  }
}

/** Changes one profile in config.json. */
export async function changeProfile(
  config: Document<Config>,
  name: string,
  change: (before: Profile) => Profile,
  alsoCurrent = false,
): Promise<Profile> {
  checkName(name);
  const { profiles } = await config.update((before) => ({
    ...before,
    ...(alsoCurrent && { current: name }),
    profiles: { ...before.profiles, [name]: change(before.profiles[name] ?? {}) },
  }));
  return profiles[name] ?? {};
}

/** Finds a profile by its name. Throws Failure `not-found` for an unknown profile. */
export function findProfile({ profiles }: Config, name: string): Profile {
  const found = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  if (found !== undefined) return found;
  const meant = didYouMean(name, Object.keys(profiles));
  throw new Failure('not-found', `Profile "${name}" does not exist.${meant}`, {
    next: { do: 'see-profiles' },
  });
}

/** Returns the names of the other profiles with the base URL and API key of the given profile. */
export function profilesSharing(name: string, { profiles }: Config): string[] {
  const { baseUrl, apiKey } = profiles[name] ?? {};
  return baseUrl === undefined || apiKey === undefined
    ? []
    : Object.entries(profiles)
        .filter(
          ([other, each]) => other !== name && each.baseUrl === baseUrl && each.apiKey === apiKey,
        )
        .map(([other]) => other);
}

function checkName(name: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name) && !reserved.includes(name)) return name;
  throw invalid(`"${name}" cannot be a profile's name: use letters, digits, dots and dashes.`);
}

/** Changes a contact in the address book, or removes the contact if `change` returns undefined. */
export async function changeContact(
  config: Document<Config>,
  name: string,
  change: (before: Contact | undefined) => Contact | undefined,
): Promise<void> {
  await config.update(({ contacts: { [name]: before, ...others }, ...rest }) => {
    const contact = change(before);
    return { ...rest, contacts: contact === undefined ? others : { ...others, [name]: contact } };
  });
}

/**
 * Finds the contact that a person typed: the identical name, or the only name with the same letters
 * in another letter case. Throws Failure `usage` if the typed name matches several names.
 */
export function contactNamed(
  contacts: Contacts,
  name: string,
): readonly [name: string, contact: Contact] | undefined {
  const exact = Object.entries(contacts).filter(([each]) => each === name);
  const [found, ...others] =
    exact.length > 0
      ? exact
      : Object.entries(contacts).filter(([each]) => folded(each) === folded(name));
  if (found === undefined || others.length === 0) return found;
  const names = [found, ...others].map(([each]) => `"${each}"`).join(' or ');
  throw invalid(`"${clip(name)}" matches ${names} in your contacts.`, {
    hint: 'Write the name exactly as saved.',
  });
}

/** Finds a contact like `contactNamed`. Throws Failure `kind` if there is no such contact. */
export function findContact(
  contacts: Contacts,
  name: string,
  kind: 'usage' | 'not-found' = 'not-found',
): readonly [name: string, contact: Contact] {
  const found = contactNamed(contacts, name);
  if (found !== undefined) return found;
  const meant = didYouMean(name, Object.keys(contacts));
  throw new Failure(kind, `"${clip(name)}" is not in your contacts.${meant}`, {
    next: { do: 'run', command: 'contacts list' },
  });
}

/** Throws Failure `usage` for a name that is empty, too long or hard to type. */
export function parseContactName(text: string): string {
  const name = text.trim().normalize('NFC');
  if (/^[\p{L}\p{N}][\p{L}\p{N}\p{M} ._'@-]{0,63}$/u.test(name) && !reserved.includes(name))
    return name;
  throw invalid(`"${clip(text)}" cannot be a contact's name: use letters, digits and spaces.`);
}
