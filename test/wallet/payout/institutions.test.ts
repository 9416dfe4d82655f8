// The look-up of institutions: which answer means that a country has none, and which that nobody could tell.
import { expect, test } from 'vitest';
import { ServiceError } from '../../../src/api/errors.js';
import { institutionsIn } from '../../../src/wallet/payout/institutions.js';

const missing = (isOwnRefusal: boolean) =>
  new ServiceError('not-found', 'not found', { status: 404, reason: 'not found', isOwnRefusal });

const lookUp = (error: Error) => institutionsIn('VN', { institutions: async () => { throw error; } });

test("the service's own 404 means that it lists none for the country", async () => {
  expect(await lookUp(missing(true))).toEqual([]);
});

test("a gateway's 404 says nothing of the country: it is an error, never an empty list", async () => {
  await expect(lookUp(missing(false))).rejects.toMatchObject({ exitCode: 5 });
});
