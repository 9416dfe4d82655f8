// Names the fields of the service's objects, as `--fields` accepts them.
import { walletFields, namesWithin, transactionFields } from './reading.js';

export const transactionNames: readonly string[] = namesWithin(transactionFields);
export const walletNames: readonly string[] = namesWithin(walletFields);
