// The second entry of the library: the client underneath, for what an integrator rarely needs: raw
// requests, the service's clock, and the fields of an answer that were not understood.
export type { ServiceClient } from './api/client.js';
export type { ClientOptions, LogFacts } from './api/options.js';
export type { CallLimits } from './api/request/call.js';
export type { CallTerms } from './api/request/service.js';
export { misread } from './api/types.js';
export { serviceOf } from './library/client.js';
