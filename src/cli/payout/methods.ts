// Lists payout countries and methods. Specification: Supported fiat payout destinations.
import { methodList } from '../../terminal/views/payout-lists.js';
import { findCountry, methodsIn, payoutCountries } from '../../wallet/payout/methods.js';
import { defineCommand, list } from '../define.js';
import { word } from '../values.js';

export const payoutMethods = defineCommand({
  arguments: {
    country: word(
      'COUNTRY',
      findCountry,
      payoutCountries.map(({ code }) => code),
    )
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
