// The payout command with the answers to all its questions.

export const payoutAnswers = {
  '--country': 'VN',
  '--institution': '970436',
  '--acct-num': '0123456789',
  '--acct-name': 'LE VAN A',
  '--recipient-type': 'individual',
  '--recipient-name': 'Le Van A',
  '--recipient-country': 'VN',
  '--amount': '500000vnd',
  '--purpose': '1',
  '--source': '2',
  '--relationship': '3',
  '--sender-type': 'business',
  '--sender-name': 'Acme Ltd',
  '--sender-country': 'DE',
  '--sender-phone': '+49 151 1234 5678',
  '--sender-address': '1 High St',
};

/** @param changes answers that replace the defaults, and additional flags */
export const payoutWords = (changes: Readonly<Record<string, string>> = {}): string[] => [
  'payout',
  ...Object.entries({ ...payoutAnswers, ...changes }).flat(),
];
