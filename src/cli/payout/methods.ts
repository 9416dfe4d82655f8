// Lists payout countries and methods, and the banks and mobile wallets of a country. See "Supported
// fiat payout destinations" and endpoint 15 in the specification.
import { countryName, parseCountryCode } from '../../formats/country.js';
import {
  institutionList,
  methodList,
  noInstitutionsText,
} from '../../terminal/views/payout-lists.js';
import { findCountry, methodsIn, payoutCountries } from '../../wallet/payout/methods.js';
import { defineCommand } from '../define.js';
import { list } from '../show.js';
import { word } from '../values.js';
import { institutionsOf } from './payout-flow.js';

const countries = payoutCountries.map(({ code }) => code);

export const payoutMethods = defineCommand({
  arguments: {
    country: word('COUNTRY', findCountry, countries)
      .optional()
      .describe('only this country, e.g. VN'),
  },
  examples: [
    ['svcpay payout methods', 'lists all countries'],
    ['svcpay payout methods NG -q', 'prints the codes of one country, for a script'],
  ],
  async run({ country }) {
    return methodsIn(country).map(
      ({ code, country: { code: cc, name, ccy }, institutionType, arrives }) => ({
        country: cc,
        countryName: name,
        ccy,
        method: code,
        institutionType,
        arrives: arrives ?? null,
      }),
    );
  },
  view: list(methodList),
});

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
