// Brings the tables of the database to the version of this program, step by step.
import { defineCommand } from '../define.js';
import { findDatabase, parts } from './db-flow.js';

export const dbUpgrade = defineCommand({
  fields: [],
  examples: [['svcpay db upgrade', 'once, when no older svcpay uses the database any more']],
  async run(_values, context) {
    const { postgres, source } = await findDatabase(context);
    const { upgradeTables } = await import('../../store/database/postgres-schema.js');
    for (const part of await parts()) {
      await upgradeTables(postgres, source, part);
      context.out.say(`The ${part.name} is of version ${part.steps.length}.`);
    }
    context.out.did((await parts()).map(({ name, steps }) => ({ part: name, version: steps.length })));
  },
});
