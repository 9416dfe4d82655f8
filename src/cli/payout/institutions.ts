// Lists the banks and mobile wallets of a country. Specification: endpoint 15.
import { countryName, parseCountryCode } from '../../formats/country.js';
import { institutionList, noInstitutionsText } from '../../terminal/views/payout-lists.js';
import { payoutCountries } from '../../wallet/payout/methods.js';
import { defineCommand, list } from '../define.js';
import { word } from '../values.js';
import { institutionsOf } from './payout-flow.js';

const countries = payoutCountries.map(({ code }) => code);

export const payoutInstitutions = defineCommand({
  arguments: {
    country: word('COUNTRY', parseCountryCode, countries).describe('two-letter code, e.g. VN'),
  },
  examples: [
    ['svcpay payout institutions VN', 'lists banks and mobile wallets'],
    [
      'svcpay payout institutions VN --json --fields institutionCode',
      'prints the codes, for a script',
    ],
  ],
  run: ({ country }, context) => institutionsOf(country, context),
  view: list(institutionList),
  adapt: (_institutions, { country }) => ({
    empty: noInstitutionsText(countryName(country), countries.includes(country)),
  }),
});
