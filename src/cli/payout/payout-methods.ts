// Lists where fiat can be paid out to and how. Specification: Supported fiat payout destinations.
import { methodList } from '../../terminal/views/payout-lists.js';
import { findCountry, methodsIn, payoutCountries } from '../../wallet/payout/methods.js';
import { defineCommand } from '../define.js';
import { word } from '../values.js';

export const payoutMethods = defineCommand({
  arguments: { country: word('COUNTRY', findCountry, payoutCountries.map(({ code }) => code)).optional().describe('only this country, as in VN') },
  options: {},
  examples: [
    ['svcpay payout methods', 'all countries'],
    ['svcpay payout methods NG -q', 'the codes of one country, for a script'],
  ],
  async run({ country }, { out }) {
    const methods = methodsIn(country).map(({ code, country: { code: cc, name, ccy }, institutionType, arrives }) => ({
      country: cc,
      countryName: name,
      ccy,
      method: code,
      institutionType,
      arrives: arrives ?? null,
    }));
    await out.list(methods, methodList);
  },
});
