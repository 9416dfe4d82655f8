// The `/_sandbox/` endpoints for faults: add, list, clear.
import { idParam, route } from './control-route.js';
import { addFault, clearFaults, faultRule, listFaults, removeFault } from './faults.js';
import { readBody, type Route } from '../http/http.js';

export function faultControls(): Route[] {
  return [
    route('GET', 'faults', ({ ctx }) => ({ data: listFaults(ctx.store) })),
    route('POST', 'faults', ({ ctx, incoming }) => addFault(ctx.store, readBody(incoming, faultRule))),
    route('DELETE', 'faults', ({ ctx }) => {
      clearFaults(ctx.store);
      return { data: [] };
    }),
    route('DELETE', 'faults/:id', (call) => {
      removeFault(call.ctx.store, idParam(call));
      return { data: listFaults(call.ctx.store) };
    }),
  ];
}
