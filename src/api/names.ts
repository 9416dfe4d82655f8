// Names the fields of the service's objects, as `--fields` accepts them.
import {
  namesWithin,
  transactionFields,
  usdtAddressFields,
  walletFields,
  webhookFields,
} from './reading.js';

export const transactionNames: readonly string[] = namesWithin(transactionFields);
export const walletNames: readonly string[] = namesWithin(walletFields);
export const usdtAddressNames: readonly string[] = namesWithin(usdtAddressFields);
export const webhookNames: readonly string[] = namesWithin(webhookFields);
