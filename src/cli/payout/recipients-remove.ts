// Takes somebody out of the address book for payouts.
import { Failure } from '../../formats/failure.js';
import { changeRecipients } from '../../store/profile/profiles.js';
import { defineCommand } from '../define.js';
import { text } from '../values.js';

export const recipientsRemove = defineCommand({
  fields: [],
  arguments: { name: text('NAME').suggesting('recipient').describe('as svcpay recipients list shows it') },
  options: {},
  examples: [['svcpay recipients remove "Le Van A"', 'forgets the account and the person; asks first']],
  async run({ name }, { config, out, ask }) {
    if (!Object.hasOwn(config.read().recipients, name)) {
      throw new Failure('not-found', `There is no "${name}" in your address book.`, { hint: 'svcpay recipients list' });
    }
    if (!(await ask.confirm(`Take ${name} out of your address book?`))) throw new Failure('declined', 'Nobody was removed.');
    await changeRecipients(config, ({ [name]: _removed, ...others }) => others);
    out.say(`${name} is no longer in your address book.`);
    out.did({ name, removed: true });
  },
});
