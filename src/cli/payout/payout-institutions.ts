// Lists the banks and mobile wallets that payouts reach in a country. Specification: endpoint 15.
import { countryName, parseCountryCode } from '../../formats/country.js';
import { institutionList } from '../../terminal/views/payout-lists.js';
import { payoutCountries } from '../../wallet/payout/methods.js';
import { defineCommand } from '../define.js';
import { institutionsOf } from './payout-flow.js';
import { word } from '../values.js';

export const payoutInstitutions = defineCommand({
  arguments: { country: word('COUNTRY', parseCountryCode, payoutCountries.map(({ code }) => code)).describe('two letters, as in VN') },
  options: {},
  examples: [
    ['svcpay payout institutions VN', 'banks and mobile wallets'],
    ['svcpay payout institutions VN --json --fields institutionCode', 'for a script'],
  ],
  async run({ country }, context) {
    const paysOut = payoutCountries.some(({ code }) => code === country);
    await context.out.list(await institutionsOf(country, context), institutionList(countryName(country), paysOut));
  },
});
