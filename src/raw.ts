// Exports the level below the client, for rare needs: raw requests, the service's clock, and the
// fields of a response that svcpay could not read.
export type { ServiceClient } from './api/client.js';
export type { ClientOptions, LogFacts } from './api/types.js';
export type { CallLimits } from './api/answer.js';
export type { CallTerms } from './api/service.js';
export { misread, type MisreadField } from './api/types.js';
export { serviceOf } from './library/client.js';
