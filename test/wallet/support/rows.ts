// Builds rows of a batch from orders.
import { instructionOfOrder } from '../../../src/wallet/instruction/order.js';
import type { Order } from '../../../src/wallet/order/orders.js';
import { rowOf, type Row } from '../../../src/wallet/batch/row.js';

export const batchRow = (line: number, order: Order, change: Partial<Row> = {}): Row => ({
  ...rowOf({
    line,
    ref: `row-${line}`,
    isNamed: true,
    instruction: instructionOfOrder(order, false),
    order,
    to: order.destination,
    written: '',
    isSlow: false,
    cells: {},
  }),
  ...change,
});
