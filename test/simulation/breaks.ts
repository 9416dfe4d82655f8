// Deliberate breaks of the program, which prove that the audit of the typed command lines bites.

/** Replaces a text in a source file. */
export interface Break {
  readonly name: string;
  readonly file: string;
  readonly from: string;
  readonly to: string;
  /** The first seed whose schedule shows the break. */
  readonly seed: number;
  readonly finds: RegExp;
}

export const breaks: readonly Break[] = [
  {
    name: 'a reference pays another instruction',
    file: 'wallet/payment/pay.ts',
    from: 'throw differentPayment(payment, instruction);',
    to: 'return;',
    seed: 20_002,
    finds: /ended with 0, but nothing was paid/,
  },
  {
    name: 'a pending payment exits as a usage error',
    file: 'formats/failure.ts',
    from: 'pending: 8',
    to: 'pending: 2',
    seed: 20_020,
    finds: /ended with 2, but moved txn-\d/,
  },
  {
    name: 'the reference of a proposal changes',
    file: 'wallet/proposals/proposal.ts',
    from: '`proposal:${id}`',
    to: '`proposal:${id}${performance.now()}`',
    seed: 20_001,
    finds: /has the reference proposal:/,
  },
  {
    name: 'a payment recorded as moved is repeated',
    file: 'store/journal/payment.ts',
    from: "resolution.moved ? 'paid' : 'failed'",
    to: "'failed'",
    seed: 20_064,
    finds: /was asked for once, and paid \d times/,
  },
  {
    name: 'a quote that only shows a price is resumed',
    file: 'store/journal/payment.ts',
    from: ' || isPriceReference(payment.ref)',
    to: '',
    seed: 30_091,
    finds: /was asked for once, and paid 2 times/,
  },
];
