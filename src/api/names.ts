// Names the fields of the service's objects, as `--fields` accepts them.
import { walletFields } from './reading/objects.js';
import { namesWithin } from './reading/readers.js';
import { transactionFields } from './reading/transaction.js';

export const transactionNames: readonly string[] = namesWithin(transactionFields);
export const walletNames: readonly string[] = namesWithin(walletFields);
